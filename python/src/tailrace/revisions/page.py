# SPDX-License-Identifier: BSD-3-Clause
"""The page of a session: every number over the revisions, with steps, verdicts and what was left out."""

from pathlib import Path
from typing import Any

import plotly.graph_objects as go

from tailrace.bench.stats import spread
from tailrace.figures import theme
from tailrace.report.page import write_page
from tailrace.report.parts import Picture, Section, Table
from tailrace.revisions.answers import COLUMNS, rows, step_text, steps_of


def write_revisions_page(document: dict[str, Any], path: Path) -> None:
    sections = [numbers_section(document), verdicts_section(document), failures_section(document)]
    machine = [(key, str(value)) for key, value in document["machine"].items()]
    facts = [("run", document["run"]), ("rounds", str(document["rounds"])), ("seed", str(document["seed"]))]
    title, subtitle = f"Revisions: {document['test']}", f"{len(document['revisions'])} revisions"
    write_page(path, title, subtitle, sections, facts=[*facts, *machine])


def numbers_section(document: dict[str, Any]) -> Section:
    section = Section("numbers", "Numbers over revisions")
    section.pictures = [number_picture(document, name) for name in document["better"]]
    section.notes = [step_text(*step) for step in steps_of(document)]
    return section


def number_picture(document: dict[str, Any], name: str) -> Picture:
    """Medians with their 95 % intervals; steps are vertical lines."""
    shown = [one for one in document["revisions"] if one["numbers"].get(name) and not one["failed"]]
    spreads = [spread(one["numbers"][name]) for one in shown]
    labels = [one["name"] for one in shown]
    figure = go.Figure(
        go.Scatter(
            x=labels,
            y=[one.median for one in spreads],
            error_y={
                "array": [one.high - one.median for one in spreads],
                "arrayminus": [one.median - one.low for one in spreads],
            },
            mode="lines+markers",
            line={"color": theme.LINES[0]},
            text=[one["subject"] for one in shown],
            hovertemplate="%{x}: %{y}<br>%{text}<extra></extra>",
        )
    )
    figure.update_xaxes(type="category")
    for of, _, at, _ in steps_of(document):
        if of == name:
            figure.add_vline(x=labels.index(at["name"]) - 0.5, line={"dash": "dot", "color": theme.LINES[1]})
    caption = f"Medians; better is {document['better'][name]}. Dotted: steps."
    return Picture(theme.style(figure, height=300), caption, name)


def verdicts_section(document: dict[str, Any]) -> Section:
    caption = (
        "Ratios of the same rounds over the first revision. Their intervals hold for all rows at once, with "
        "1 false alarm in 100 such tables."
    )
    parts = [Table(list(COLUMNS), rows(document), caption, numeric=(2, 3, 4))]
    return Section("verdicts", "Verdicts", pictures=parts)


def failures_section(document: dict[str, Any]) -> Section:
    failed = [[one["name"], one["subject"], one["failed"]] for one in document["revisions"] if one["failed"]]
    section = Section("failures", "Left out")
    if failed:
        section.pictures = [Table(["revision", "subject", "why"], failed)]
    return section
