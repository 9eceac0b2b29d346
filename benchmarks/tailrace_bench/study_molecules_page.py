# SPDX-License-Identifier: BSD-3-Clause
"""The study of states of molecules as a page of plots and tables, and as tables on the console."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots
from rich.console import Console

from tailrace.bench.document import make_table, with_interval
from tailrace.bench.host import watch_text
from tailrace.bench.stats import from_dict
from tailrace.figures import theme
from tailrace.units import bytes_text
from tailrace_bench.study_molecules import OURS
from tailrace_bench.study_molecules_findings import FINDING, HEADER_FINDING, ours, study_size, verdicts
from tailrace_bench.study_page import NEUTRAL, html_table, page, section_text

COLUMNS = (
    "ranks",
    "files",
    "written, s",
    "of plain",
    "read by as many, s",
    "of plain",
    "over needed",
    "read by others, s",
    "over needed",
)
# Of lines, once the colours are used up.
DASHES = ("solid", "dash")
PANELS = ("written", "read by as many ranks", "read by another number")
HEADER_WAYS = {"broadcast": "rank 0 reads, broadcast", "each": "each reads", "collective": "collective"}
Row = dict[str, Any]


def write_page(document: dict[str, Any], path: Path) -> None:
    path.write_text(page(document, sections(document)), encoding="utf-8")


def sections(document: dict[str, Any]) -> Iterator[str]:
    for number, (title, rows) in enumerate(states(document["rows"])):
        experiment = {
            "key": f"state-{number}",
            "title": title,
            "finding": FINDING,
            "ours": ours(rows, OURS),
            "summary": size_table(rows),
        }
        table = html_table(("format", *COLUMNS), [[row["format"], *cells(row)] for row in rows])
        yield section_text(experiment, picture(rows), table)
    if document["headers"]:
        experiment = {
            "key": "header",
            "title": "What describes a state, on all ranks",
            "finding": HEADER_FINDING,
            "ours": header_text(document["headers"]),
        }
        rows = header_rows(document["headers"])
        yield section_text(experiment, header_picture(document["headers"]), html_table(*rows))


def states(rows: list[Row]) -> Iterator[tuple[str, list[Row]]]:
    """The rows of each number of molecules at each place."""
    for molecules, flushed in dict.fromkeys((row["molecules"], row["flushed"]) for row in rows):
        where = "flushed to the device" if flushed else "in memory"
        chosen = [row for row in rows if (row["molecules"], row["flushed"]) == (molecules, flushed)]
        yield f"{molecules / 1e6:.3g} million molecules, {where}", chosen


def own_read(row: Row) -> dict[str, Any]:
    return row["reads"][str(row["ranks"])]


def other_read(row: Row) -> tuple[str, dict[str, Any]] | None:
    """The number of ranks that read what others wrote."""
    return next(((count, read) for count, read in row["reads"].items() if int(count) != row["ranks"]), None)


def cells(row: Row) -> list[str]:
    own = own_read(row)
    text = [
        str(row["ranks"]),
        bytes_text(row["bytes"]),
        with_interval(from_dict(row["write_s"]), digits=3),
        with_interval(from_dict(row["plain_over_write"]), digits=2),
        with_interval(from_dict(own["read_s"]), digits=3),
        with_interval(from_dict(own["plain_over_read"]), digits=2),
        over_needed(own),
    ]
    if (found := other_read(row)) is None:
        return [*text, "", ""]
    count, other = found
    return [
        *text,
        f"{count} rank{'s' * (count != '1')}: {with_interval(from_dict(other['read_s']), digits=3)}",
        over_needed(other),
    ]


def over_needed(read: dict[str, Any]) -> str:
    """Of all ranks together, and of the rank for which it is most."""
    return f"{read['all_read_over_needed']:.2f}, {read['read_over_needed']:.2f}"


def size_table(rows: list[Row]) -> dict[str, Any]:
    """Sizes of the files beside those of the study."""
    first = [row for row in rows if row["ranks"] == rows[0]["ranks"]]
    molecules = first[0]["molecules"]
    return {
        "columns": ["size", "here", "bytes per molecule", "the study's, of about as many"],
        "rows": [
            [
                row["format"],
                bytes_text(row["bytes"]),
                f"{row['bytes'] / molecules:.1f}",
                study_size(row["format"], molecules),
            ]
            for row in first
        ],
    }


def picture(rows: list[Row]) -> go.Figure:
    """Seconds over ranks: of writing, of reading by as many, and by others; beside the plain file."""
    figure = make_subplots(cols=len(PANELS), subplot_titles=PANELS, shared_yaxes=True)
    for number, name in enumerate(dict.fromkeys(row["format"] for row in rows)):
        shown = [row for row in rows if row["format"] == name]
        others = [found[1] if (found := other_read(row)) else None for row in shown]
        taken = [
            [row["write_s"] for row in shown],
            [own_read(row)["read_s"] for row in shown],
            [other["read_s"] if other else None for other in others],
        ]
        look = {
            "color": theme.LINES[number % len(theme.LINES)],
            "dash": DASHES[number // len(theme.LINES) % len(DASHES)],
        }
        for panel, seconds in enumerate(taken):
            add_line(figure, panel, name, shown, seconds, look)
    first = [row for row in rows if row["format"] == rows[0]["format"]]
    for panel, key in enumerate(("plain_write_s", "plain_read_s", "plain_read_s")):
        look = {"color": NEUTRAL, "dash": "dot"}
        add_line(figure, panel, "plain file, one process", first, [row[key] for row in first], look)
    return styled(figure, sorted({row["ranks"] for row in rows}))


def add_line(
    figure: go.Figure, panel: int, name: str, rows: list[Row], seconds: list[Any], look: dict[str, str]
) -> None:
    """Medians with their intervals."""
    points = [(row["ranks"], found) for row, found in zip(rows, seconds, strict=True) if found]
    figure.add_scatter(
        row=1,
        col=panel + 1,
        name=name,
        legendgroup=name,
        showlegend=panel == 0,
        mode="lines+markers",
        x=[ranks for ranks, _ in points],
        y=[found["median"] for _, found in points],
        line=look,
        error_y={
            "array": [found["interval"][1] - found["median"] for _, found in points],
            "arrayminus": [found["median"] - found["interval"][0] for _, found in points],
            "thickness": 1,
        },
    )


def styled(figure: go.Figure, ranks: list[int]) -> go.Figure:
    theme.style(figure, 400, margin={"l": 64, "r": 16, "t": 90, "b": 48})
    figure.update_layout(font_color=NEUTRAL, legend_y=1.14)
    figure.update_xaxes(type="log", tickvals=ranks, title_text="ranks that wrote")
    figure.update_yaxes(type="log", dtick=1, exponentformat="power")
    return figure.update_yaxes(title_text="seconds", col=1)


def header_rows(headers: list[Row]) -> tuple[tuple[str, ...], list[list[str]]]:
    columns = ("bytes", "ranks", *(f"{name}, ms" for name in HEADER_WAYS.values()))
    rows = [
        [
            bytes_text(row["bytes"]),
            str(row["ranks"]),
            *(with_interval(from_dict(row["seconds"][way]), 1e3, 3) for way in HEADER_WAYS),
        ]
        for row in headers
    ]
    return columns, rows


def header_text(headers: list[Row]) -> str:
    said = []
    for size in dict.fromkeys(row["bytes"] for row in headers):
        last = [row for row in headers if row["bytes"] == size][-1]
        ratio = last["over_broadcast"]["collective"]["median"]
        said.append(f"{bytes_text(size)} on {last['ranks']} ranks {ratio:.1f}")
    return f"A collective read over rank 0's with a broadcast: {'; '.join(said)}."


def header_picture(headers: list[Row]) -> go.Figure:
    sizes = list(dict.fromkeys(row["bytes"] for row in headers))
    figure = make_subplots(cols=len(sizes), subplot_titles=[bytes_text(size) for size in sizes])
    for number, (way, name) in enumerate(HEADER_WAYS.items()):
        for panel, size in enumerate(sizes):
            shown = [row for row in headers if row["bytes"] == size]
            look = {"color": theme.LINES[number], "dash": DASHES[0]}
            add_line(figure, panel, name, shown, [row["seconds"][way] for row in shown], look)
    return styled(figure, sorted({row["ranks"] for row in headers})).update_xaxes(title_text="ranks")


def print_document(document: dict[str, Any], console: Console) -> None:
    for title, rows in states(document["rows"]):
        table = make_table(title, "format", *COLUMNS)
        for row in rows:
            table.add_row(row["format"], *cells(row))
        console.print(table)
        console.print(f"The study: {FINDING}")
        console.print(f"Here: {ours(rows, OURS)}\n")
    if document["headers"]:
        columns, cells_of_rows = header_rows(document["headers"])
        table = make_table("A header on all ranks", *columns)
        for row in cells_of_rows:
            table.add_row(*row)
        console.print(table)
        console.print(f"The study: {HEADER_FINDING}")
        console.print(f"Here: {header_text(document['headers'])}\n")
    for line in verdicts(document["rows"], OURS):
        console.print(line)
    console.print(watch_text(document["conditions"]))
