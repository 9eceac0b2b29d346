# SPDX-License-Identifier: BSD-3-Clause
"""The study as a page of plots and tables that needs nothing but a browser, and as tables on the console."""

from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs
from rich.console import Console

import tailrace.report
from tailrace.bench.document import make_table, with_interval
from tailrace.bench.host import watch_text
from tailrace.bench.stats import from_dict
from tailrace.figures import theme
from tailrace_bench.study_results import COMPUTE

STYLE = Path(tailrace.report.__file__).with_name("page.css")
# Readable on light and on dark pages.
NEUTRAL = "#7d8590"
# Of bars, once the colours are used up.
PATTERNS = ("", "/", "x", ".")
COLUMNS = ("run, s", "mean, s", "blocking / run", "compute / alone", "hidden")
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><link rel="icon" href="data:,">
<style>{style}</style><script>{plotly}</script></head><body><main>
<header><p class="brand">Tailrace study</p><h1>{title}</h1>
<p class="subtitle">{subtitle}</p><p class="reason">{source}</p><p class="reason">{conditions}</p></header>
{sections}
</main></body></html>
"""
SECTION = """<section id="{key}"><h2>{title}</h2>
<p class="note"><strong>The study.</strong> {finding}</p><p class="note"><strong>Here.</strong> {ours}</p>
{summary}<div class="pictures"><figure>{plot}</figure>
<figure>{table}</figure></div></section>"""
TABLE = '<div class="scroll"><table class="data">{rows}</table></div>'


def write_page(document: dict[str, Any], path: Path) -> None:
    path.write_text(page(document, map(section, document["experiments"])), encoding="utf-8")


def page(document: dict[str, Any], sections: Iterable[str]) -> str:
    """The text of a page, whose head the document says."""
    return PAGE.format(
        style=STYLE.read_text(encoding="utf-8"),
        plotly=get_plotlyjs(),
        title=escape(document["title"]),
        subtitle=escape(document["subtitle"]),
        source=escape(document["source"]),
        conditions=escape(watch_text(document["conditions"])),
        sections="\n".join(sections),
    )


def section(experiment: dict[str, Any]) -> str:
    table = html_table((experiment["title"], *COLUMNS), rows_of(experiment))
    return section_text(experiment, figure(experiment), table)


def section_text(experiment: dict[str, Any], picture: go.Figure, table: str) -> str:
    """Findings, a picture and a table; the experiment states its key, title, the finding and ours."""
    return SECTION.format(
        key=experiment["key"],
        title=escape(experiment["title"]),
        finding=escape(experiment["finding"]),
        ours=escape(experiment["ours"]),
        summary=summary(experiment),
        plot=picture.to_html(full_html=False, include_plotlyjs=False, div_id=f"{experiment['key']}-plot"),
        table=table,
    )


def figure(experiment: dict[str, Any]) -> go.Figure:
    """Time of a run over that of its computation alone, with the interval."""
    points = experiment["points"]
    ways = list(dict.fromkeys(way for point in points for way in point["ways"] if way != COMPUTE))
    picture = go.Figure()
    for number, way in enumerate(ways):
        shown = [point for point in points if way in point["ways"]]
        alone = [point["ways"][COMPUTE]["run_s"]["median"] for point in shown]
        runs = [point["ways"][way]["run_s"] for point in shown]
        middle = [run["median"] / base for run, base in zip(runs, alone, strict=True)]
        high = [run["interval"][1] / base for run, base in zip(runs, alone, strict=True)]
        low = [run["interval"][0] / base for run, base in zip(runs, alone, strict=True)]
        picture.add_bar(
            name=way,
            x=[point["label"] for point in shown],
            y=middle,
            marker_color=theme.LINES[number % len(theme.LINES)],
            marker_pattern_shape=PATTERNS[number // len(theme.LINES) % len(PATTERNS)],
            error_y={
                "array": [top - value for top, value in zip(high, middle, strict=True)],
                "arrayminus": [value - bottom for value, bottom in zip(middle, low, strict=True)],
            },
        )
    layout = {"barmode": "group", "xaxis": {"type": "category"}, "yaxis": {"title": "run / compute alone"}}
    return theme.style(picture, 320, **layout).update_layout(font_color=NEUTRAL)


def summary(experiment: dict[str, Any]) -> str:
    """The table that a study draws from all points; some have none."""
    if "summary" not in experiment:
        return ""
    found = experiment["summary"]
    return f"<figure>{html_table(found['columns'], found['rows'])}</figure>"


def html_table(columns: Iterable[str], rows: Iterable[list[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>" for cells in rows)
    return TABLE.format(rows=f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>")


def rows_of(experiment: dict[str, Any]) -> list[list[str]]:
    rows = []
    for point in experiment["points"]:
        for way, found in point["ways"].items():
            hidden = "" if way == COMPUTE else f"{100 * found['hidden_fraction']['median']:.0f} %"
            cells = [
                f"{found['run_s']['median']:.3f}",
                with_deviation(found["mean_s"], found["deviation_s"]),
                with_interval(from_dict(found["gain"]), digits=2),
                f"{found['compute_ratio']['median']:.3f}",
                hidden,
            ]
            rows.append([f"{point['label']}, {way}", *cells])
    return rows


def with_deviation(mean_s: float, deviation_s: float | None) -> str:
    """Such as 1.234 ± 0.012; a single run has no standard deviation."""
    return f"{mean_s:.3f}" if deviation_s is None else f"{mean_s:.3f} ± {deviation_s:.3f}"


def print_document(document: dict[str, Any], console: Console) -> None:
    for experiment in document["experiments"]:
        table = make_table(experiment["title"], "load, way", *COLUMNS)
        for cells in rows_of(experiment):
            table.add_row(*cells)
        console.print(table)
        if "summary" in experiment:
            print_summary(experiment["summary"], console)
        console.print(f"The study: {experiment['finding']}")
        console.print(f"Here: {experiment['ours']}\n")
    console.print(watch_text(document["conditions"]))


def print_summary(found: dict[str, Any], console: Console) -> None:
    table = make_table("Speed-ups", *found["columns"])
    for cells in found["rows"]:
        table.add_row(*cells)
    console.print(table)
