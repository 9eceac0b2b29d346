# SPDX-License-Identifier: BSD-3-Clause
"""The study of NPB's UA as a page of plots and tables, and as tables on the console."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
from rich.console import Console

from tailrace.bench.document import make_table, with_interval
from tailrace.bench.host import watch_text
from tailrace.bench.stats import from_dict
from tailrace.figures import theme
from tailrace.report.simulations.heat import access_pattern
from tailrace.units import bytes_text, significant
from tailrace_bench import heat_model
from tailrace_bench.heat import DISTRIBUTIONS
from tailrace_bench.study_heat import MODEL_RULE, STUDY_RULES, WAYS_CLASS, serial_s
from tailrace_bench.study_heat_findings import (
    EXCHANGES,
    FINDINGS,
    PROFILE,
    PUBLISHED_MOPS,
    PUBLISHED_RANKS,
    SERIAL_S,
    SPEED_UP,
    study_mops,
    study_mops_without_changes,
)
from tailrace_bench.study_page import NEUTRAL, html_table, page, section_text

MILLI = 1e3
HERE, THERE = "here: modelled", "on the study's machine, word by word: modelled"
Document = dict[str, Any]


@dataclass(frozen=True)
class Section:
    """What the study found, what is here, a table, and a picture of it."""

    key: str
    title: str
    ours: str
    columns: tuple[str, ...]
    rows: list[list[str]]
    picture: go.Figure

    def experiment(self) -> dict[str, str]:
        return {"key": self.key, "title": self.title, "finding": FINDINGS[self.key], "ours": self.ours}


def write_page(document: Document, path: Path) -> None:
    texts = (
        section_text(one.experiment(), one.picture, html_table(one.columns, one.rows))
        for one in sections(document)
    )
    path.write_text(page(document, texts), encoding="utf-8")


def print_document(document: Document, console: Console) -> None:
    for one in sections(document):
        table = make_table(one.title, *one.columns)
        for cells in one.rows:
            table.add_row(*cells)
        console.print(table)
        console.print(f"The study: {FINDINGS[one.key]}")
        console.print(f"Here: {one.ours}\n")
    console.print(watch_text(document["conditions"]))


def sections(document: Document) -> Iterator[Section]:
    yield profile(document)
    yield access(document)
    yield owners(document)
    yield put(document)
    yield scaling(document)
    yield speed_up(document)


def styled(figure: go.Figure, height: int = 360, **layout: Any) -> go.Figure:
    margin = {"l": 64, "r": 16, "t": 90, "b": 48}
    return theme.style(figure, height, margin=margin, **layout).update_layout(font_color=NEUTRAL)


def profile(document: Document) -> Section:
    """Measured."""
    names = ("convection", "diffusion", "adaptation", "other")
    study = PROFILE | {"other": PROFILE["other"] + PROFILE["exchanges outside"]}
    rows = [["the study, serial, class C", *(f"{study[name]:.1f}" for name in names), f"{EXCHANGES:.0f}", ""]]
    shares = {"the study, serial": {name: study[name] for name in names}}
    for row in document["profile"]:
        shares[row["name"]] = {name: 100 * row["shares"][name] for name in names}
        cells = [f"{100 * row['shares'][name]:.1f}" for name in names]
        cells += [f"{100 * row['exchanges']:.1f}", with_interval(from_dict(row["mops"]))]
        rows.append([row["name"], *cells])
    picture = go.Figure()
    for number, name in enumerate(names):
        values = [of[name] for of in shares.values()]
        picture.add_bar(name=name, x=list(shares), y=values, marker_color=theme.LINES[number])
    columns = ("run", *(f"{name}, %" for name in names), "of these, exchanges, %", "Mop/s")
    first, last = document["profile"][0], document["profile"][-1]
    adaptation = [f"{100 * row['shares']['adaptation']:.1f}" for row in (first, last)]
    ours = (
        f"Measured, rank 0: the adaptation, which all ranks share, takes {adaptation[0]} % of the time on "
        f"one rank and {adaptation[1]} % on {last['ranks']}; moving values of mortar points, as far as no "
        f"computation hides it, {100 * first['exchanges']:.1f} and {100 * last['exchanges']:.1f} %."
    )
    layout = {"barmode": "stack", "yaxis": {"title": "% of the time"}, "xaxis": {"type": "category"}}
    return Section("profile", "Where the time goes", ours, columns, rows, styled(picture, **layout))


def access(document: Document) -> Section:
    """Measured: counted by the program, with points numbered as in the study."""
    figure = access_pattern(document["accesses"]).figure
    figure.update_layout(font_color=NEUTRAL, margin_t=70, height=figure.layout.height + 40)
    rows = []
    for one in document["accesses"]:
        count = sum(one["counts"])
        sizes = (one["elements"], one["mortars"], count)
        rows.append([f"after step {one['step']}", *(f"{size:,}" for size in sizes)])
        rows[-1].append(f"{count / one['mortars']:.2f}")
    ours = (
        "Counted by the program, in squares of 1/48 of all elements and points, which are numbered as in the "
        "study: on the left the vertices, which all elements read; beside them edges and faces, numbered by "
        "the first element that touches them: accesses lie on a diagonal and, where elements touch what "
        "others far before them have numbered, scattered above it."
    )
    columns = ("mesh", "elements", "mortar points", "accesses", "per point")
    title = "Which mortar points elements access (figure 2)"
    return Section("access", title, ours, columns, rows, figure)


def owners(document: Document) -> Section:
    """Measured on two ranks, inspected on many."""
    counts = document["counts"]
    numbers = [row["ranks"] for row in counts["changes"]]
    measured = {row["name"]: row for row in document["ways"]["rows"]}
    picture, rows = go.Figure(), []
    for number, rule in enumerate(DISTRIBUTIONS):
        of_rule = {row["ranks"]: row for row in counts["rows"] if row["rule"] == rule}
        dash = "dash" if number >= len(theme.LINES) else "solid"
        picture.add_scatter(
            name=rule,
            mode="lines+markers",
            x=numbers,
            y=[of_rule[ranks]["reads"]["most"] for ranks in numbers],
            line={"color": theme.LINES[number % len(theme.LINES)], "dash": dash},
        )
        cells = [
            f"{of_rule[ranks]['remote_per_point']:.2f} ({of_rule[ranks]['reads_max_over_mean']:.1f}, "
            f"{of_rule[ranks]['read_max_over_mean']:.1f}) {of_rule[ranks]['peers']:.0f}"
            for ranks in numbers
        ]
        rows.append([rule, with_interval(from_dict(measured[rule]["over_touching"]), digits=2), *cells])
    styled(picture, 400).update_xaxes(type="log", tickvals=numbers, title_text="ranks")
    picture.update_yaxes(type="log", title_text="values that the busiest rank reads")
    last = {row["rule"]: row for row in counts["rows"] if row["ranks"] == numbers[-1]}
    best = min(last[rule]["remote_per_point"] for rule in DISTRIBUTIONS[2:])
    fewer = best / last[MODEL_RULE]["remote_per_point"]
    ours = (
        f"Times on two ranks are measured (class {WAYS_CLASS}, over touching); counts are inspected (class "
        "C, remote values per point; in brackets most over mean, of a rank that reads and of one that is "
        f"read of; ranks that a rank reads of). On {numbers[-1]} ranks an owner among those that touch a "
        f"point moves {fewer:.1f} times fewer values than the best of the study's rules."
    )
    columns = ("rule", "time over touching", *(f"{ranks} ranks" for ranks in numbers))
    return Section("owners", "Who owns a mortar point", ours, columns, rows, picture)


def put(document: Document) -> Section:
    """Measured."""
    shown = [row for row in document["ways"]["rows"] if row["name"].startswith("transport ")]
    rows = [
        [
            row["name"].removeprefix("transport "),
            with_interval(from_dict(row["step_s"]), MILLI, 2),
            with_interval(from_dict(row["exchange_s"]), MILLI, 2),
            str(row["messages"]),
            bytes_text(row["sent_bytes"]),
        ]
        for row in shown
    ]
    picture = go.Figure()
    for number, (name, key) in enumerate((("step", "step_s"), ("of that, exchange", "exchange_s"))):
        medians = [MILLI * row[key]["median"] for row in shown]
        picture.add_bar(
            name=name, x=[cells[0] for cells in rows], y=medians, marker_color=theme.LINES[number]
        )
    ratios = {row["name"]: row for row in document["ways"]["compared"]}
    said = [
        f"{name} {with_interval(from_dict(ratios[name]['exchange_ratio']), digits=2)}"
        for name in ("get over put", "put word by word over whole messages")
        if name in ratios
    ]
    ours = (
        f"Measured on two ranks of one machine, class {WAYS_CLASS}, where put and get are both copies "
        f"through the same memory. Time of exchanges: {'; '.join(said)}."
    )
    layout = {"barmode": "group", "yaxis": {"title": "ms per step"}, "xaxis": {"type": "category"}}
    columns = ("transport", "ms per step", "of that, exchange", "messages", "bytes")
    return Section("put", "Put, get, and word by word", ours, columns, rows, styled(picture, **layout))


def scaling(document: Document) -> Section:
    """Measured here on few ranks, modelled on many, beside what was published."""
    model, work = document["model"], heat_model.WORK_MOP
    numbers = [row["ranks"] for row in model]
    picture = go.Figure()
    add_line(picture, "the study", study_mops(work), 0)
    add_line(picture, "the study, adaptation free", study_mops_without_changes(work), 0, "dot")
    for rule in STUDY_RULES[:1]:
        add_line(picture, f"{rule} {THERE}", mops_there(model, rule), 1)
    add_line(picture, f"{MODEL_RULE} {THERE}", mops_there(model, MODEL_RULE), 2)
    add_line(picture, f"{MODEL_RULE} {HERE}", {row["ranks"]: row["here"]["mops"] for row in model}, 3)
    measured = {row["ranks"]: row["mops"]["median"] for row in document["profile"]}
    add_line(picture, f"here: measured, class {document['settings']['npb_class']}", measured, 4)
    styled(picture, 440).update_xaxes(type="log", tickvals=[*measured, *numbers], title_text="ranks")
    picture.update_yaxes(type="log", title_text="Mop/s")
    columns = ("ranks, model", "computing, s", "exchange, s", "sums, s", "adaptation, s", "all, s", "Mop/s")
    rows = [
        [f"{row['ranks']}, {name}", *cells_of(parts)]
        for row in model
        for name, parts in [
            (f"{MODEL_RULE} here", row["here"]),
            *((f"{rule} there", row["there"][rule]) for rule in (*STUDY_RULES, MODEL_RULE)),
        ]
    ]
    return Section(
        "scaling", "Performance over processes (figures 4 and 5)", scaling_text(model), columns, rows, picture
    )


def scaling_text(model: list[dict[str, Any]]) -> str:
    """How far the model is from what was published, and what it says of ours."""
    published = study_mops(heat_model.WORK_MOP)
    near = [
        f"{row['ranks']} ranks {row['there'][rule]['mops'] / published[row['ranks']]:.2f}"
        for row in model
        if row["ranks"] in published
        for rule in STUDY_RULES[-1:]
    ]
    (last,) = model[-1:]
    return (
        "Everything beyond two ranks is modelled, from inspected counts of the busiest rank; nothing is "
        "hidden behind computing. With the study's rate of a core, a microsecond for each word and its "
        f"reversed double-block the model's Mop/s over those published are: {', '.join(near)}. On that "
        "machine, word by word, owners that touch and an adaptation that is shared out would have "
        f"{last['there'][MODEL_RULE]['mops']:.0f} Mop/s on {last['ranks']} (published on "
        f"{PUBLISHED_RANKS}: {PUBLISHED_MOPS:.0f}); with the cores of this machine and messages as between "
        f"its two ranks {last['here']['mops']:.0f}; a network costs more than that memory, and on few ranks, "
        "whose share does not fit into the caches, an element costs more than in the model."
    )


def cells_of(parts: dict[str, float]) -> list[str]:
    names = ("computing_s", "exchange_s", "sums_s", "changes_s", "total_s")
    return [*(significant(parts[name]) for name in names), significant(parts["mops"])]


def mops_there(model: list[dict[str, Any]], rule: str) -> dict[int, float]:
    return {row["ranks"]: row["there"][rule]["mops"] for row in model}


def add_line(
    picture: go.Figure, name: str, values: dict[int, float], colour: int, dash: str = "solid"
) -> None:
    look = {"color": theme.LINES[colour], "dash": dash}
    picture.add_scatter(name=name, mode="lines+markers", x=list(values), y=list(values.values()), line=look)


def speed_up(document: Document) -> Section:
    """Modelled, over one core of the same machine."""
    model = document["model"]
    numbers = [row["ranks"] for row in model]
    alone_s = serial_s(document["element_costs"])
    here = {row["ranks"]: alone_s / row["here"]["total_s"] for row in model}
    there = {row["ranks"]: SERIAL_S / row["there"][MODEL_RULE]["total_s"] for row in model}
    studied = {row["ranks"]: SERIAL_S / row["there"][STUDY_RULES[-1]]["total_s"] for row in model}
    picture = go.Figure()
    add_line(picture, "the study", {ranks: found[0] for ranks, found in SPEED_UP.items()}, 0)
    add_line(
        picture,
        "the study, adaptation free",
        {ranks: found[1] for ranks, found in SPEED_UP.items()},
        0,
        "dot",
    )
    add_line(picture, f"{STUDY_RULES[-1]} {THERE}", studied, 1)
    add_line(picture, f"{MODEL_RULE} {THERE}", there, 2)
    add_line(picture, f"{MODEL_RULE} {HERE}", here, 3)
    picture.add_scatter(
        name="ideal", mode="lines", x=numbers, y=numbers, line={"color": NEUTRAL, "dash": "dash"}
    )
    styled(picture, 440).update_xaxes(type="log", tickvals=numbers, title_text="ranks")
    picture.update_yaxes(type="log", title_text="speed-up over one core")
    rows = [
        [
            str(ranks),
            *(f"{line[ranks]:.0f}" for line in (studied, there, here)),
            f"{SPEED_UP[ranks][0]:.0f}; {SPEED_UP[ranks][1]:.0f}" if ranks in SPEED_UP else "",
        ]
        for ranks in numbers
    ]
    ours = (
        f"Modelled, as above. Here a core is {SERIAL_S / alone_s:.0f} times as fast as the study's, so that "
        "fewer ranks suffice until messages weigh as much as computing."
    )
    names = (f"{STUDY_RULES[-1]} there", f"{MODEL_RULE} there", f"{MODEL_RULE} here")
    columns = ("ranks", *names, "the study; without adaptation")
    return Section("speed-up", "Speed-up", ours, columns, rows, picture)
