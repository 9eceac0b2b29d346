"""The study as a page of plots and tables that needs nothing but a browser, and as tables on the console."""

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
from tailrace.bench.study import COMPUTE
from tailrace.report import theme

STYLE = Path(tailrace.report.__file__).with_name("page.css")
# Readable on light and on dark pages.
NEUTRAL = "#7d8590"
COLUMNS = ("run, s", "blocking / run", "compute / alone", "hidden")
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Overlapped output: the reference study and ours</title><link rel="icon" href="data:,">
<style>{style}</style><script>{plotly}</script></head><body><main>
<header><p class="brand">Tailrace study</p><h1>Overlapped output: the reference study and ours</h1>
<p class="subtitle">{machine}</p><p class="reason">{source}</p><p class="reason">{conditions}</p></header>
{sections}
</main></body></html>
"""
SECTION = """<section id="{key}"><h2>{title}</h2>
<p class="note"><strong>The study.</strong> {finding}</p><p class="note"><strong>Here.</strong> {ours}</p>
<div class="pictures"><figure>{plot}</figure>
<figure><div class="scroll"><table class="data">{table}</table></div></figure></div></section>"""


def write_page(document: dict[str, Any], path: Path) -> None:
    sections = "\n".join(section(experiment) for experiment in document["experiments"])
    machine, settings = document["machine"], document["settings"]
    path.write_text(
        PAGE.format(
            style=STYLE.read_text(encoding="utf-8"),
            plotly=get_plotlyjs(),
            machine=escape(
                f"{machine['processor']}, {machine['cores']} cores; {settings['ranks']} ranks, "
                f"{settings['outputs']} outputs, {settings['compute_ms']:g} ms of computing for each; "
                f"flushed files; medians of {settings['pairs']} interleaved repetitions"
            ),
            source=escape(document["source"]),
            conditions=escape(watch_text(document["conditions"])),
            sections=sections,
        ),
        encoding="utf-8",
    )


def section(experiment: dict[str, Any]) -> str:
    plot = figure(experiment).to_html(
        full_html=False, include_plotlyjs=False, div_id=f"{experiment['key']}-plot"
    )
    return SECTION.format(
        key=experiment["key"],
        title=escape(experiment["title"]),
        finding=escape(experiment["finding"]),
        ours=escape(experiment["ours"]),
        plot=plot,
        table=table_rows(experiment),
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
            error_y={
                "array": [top - value for top, value in zip(high, middle, strict=True)],
                "arrayminus": [value - bottom for value, bottom in zip(middle, low, strict=True)],
            },
        )
    layout = {"barmode": "group", "xaxis": {"type": "category"}, "yaxis": {"title": "run / compute alone"}}
    return theme.style(picture, 320, **layout).update_layout(font_color=NEUTRAL)


def table_rows(experiment: dict[str, Any]) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in (experiment["title"], *COLUMNS))
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in (label, *cells)) + "</tr>"
        for label, cells in rows_of(experiment)
    )
    return f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"


def rows_of(experiment: dict[str, Any]) -> list[tuple[str, list[str]]]:
    rows = []
    for point in experiment["points"]:
        for way, found in point["ways"].items():
            hidden = "" if way == COMPUTE else f"{100 * found['hidden_fraction']['median']:.0f} %"
            cells = [
                f"{found['run_s']['median']:.3f}",
                with_interval(from_dict(found["gain"]), digits=2),
                f"{found['compute_ratio']['median']:.3f}",
                hidden,
            ]
            rows.append((f"{point['label']}, {way}", cells))
    return rows


def print_document(document: dict[str, Any], console: Console) -> None:
    for experiment in document["experiments"]:
        table = make_table(experiment["title"], "load, way", *COLUMNS)
        for label, cells in rows_of(experiment):
            table.add_row(label, *cells)
        console.print(table)
        console.print(f"The study: {experiment['finding']}")
        console.print(f"Here: {experiment['ours']}\n")
    console.print(watch_text(document["conditions"]))
