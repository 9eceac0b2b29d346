# SPDX-License-Identifier: BSD-3-Clause
"""The section on output: how much of it was hidden, why the rest was not, and what the writers did."""

import shlex

from tailrace.report import time_figures, timeline, wait_figures
from tailrace.report.load import Run
from tailrace.report.parts import Picture, Section, Table
from tailrace.report.performance import LINES
from tailrace.report.waits import LABELS
from tailrace.units import duration_text


def output_section(run: Run) -> Section:
    """Empty for runs without traces, or in which nothing was written."""
    section = Section("output", "What the output cost")
    analysis = run.analysis
    if not analysis.write_s:
        return section
    section.lead = _lead(run)
    if paced := _paced(run):
        section.notes.append(f"Writes were slowed down on purpose: --pace {paced}.")
    if analysis.reasons:
        section.pictures.append(_reasons_picture(run))
        section.pictures.append(_reasons_table(run))
    if analysis.writers:
        caption = "Busiest first; beside the bars: what they wrote, and how fast while they did."
        section.pictures.append(Picture(wait_figures.writers(analysis), caption, "Writers"))
    rate = time_figures.write_rate(analysis)
    if rate is not None:
        section.pictures.append(Picture(*rate, "Write rate", half=True))
    shown = timeline.notable_ranks(analysis, LINES)
    mains = [lane for lane in analysis.lanes if lane.rank in shown and lane.role == "compute"]
    figure = wait_figures.levels(mains, "buffers", run.trace.last_s, "")
    if figure is not None:
        caption = "Staging buffers that hold samples; when all are in use the computation waits."
        section.pictures.append(Picture(figure, caption, "Buffers", half=True))
    return section


def _lead(run: Run) -> str:
    analysis, hidden = run.analysis, run.hidden
    copied = sum(run.column("pack_s"))
    text = f"Writing took {duration_text(analysis.write_s)}, "
    text += f"the computation waited {duration_text(analysis.wait_s)} for output"
    text += f" and copied samples for {duration_text(copied)} (sums over ranks)"
    text += f": {100 * hidden:.0f} % of copying and writing was hidden." if hidden is not None else "."
    if run.trace_files > len(run.trace.ranks):
        text += (
            f" Reasons and writers below are of the {len(run.trace.ranks)} of {run.trace_files} ranks "
            "whose traces were read."
        )
    return text


def _reasons_picture(run: Run) -> Picture:
    figure = wait_figures.reasons(run.analysis.reasons, run.analysis.write_s)
    return Picture(figure, "", "Why the computation waited for output")


def _reasons_table(run: Run) -> Table:
    analysis = run.analysis
    whole = run.wall_s * max(1, len(analysis.mains))
    rows = [
        [
            LABELS[one.kind],
            duration_text(one.seconds),
            f"{100 * one.seconds / analysis.write_s:.1f} %",
            f"{100 * one.seconds / whole:.1f} %" if whole else "",
            one.evidence,
        ]
        for one in analysis.reasons
    ]
    blame = analysis.blame
    if blame is not None and blame.output_s > 0.01 * whole:
        rows.append(
            [
                "indirectly: in exchanges, for ranks that had waited for output",
                duration_text(blame.output_s),
                "",
                f"{100 * blame.output_s / whole:.1f} %",
                "not part of the above; counted as exchange",
            ]
        )
    return Table(["reason", "waited", "of writing", "of the run", "evidence"], rows, numeric=(1, 2, 3))


def _paced(run: Run) -> str:
    """The value of --pace, if the run's command has it."""
    command = run.account.get("command") or ""
    try:
        words = shlex.split(command) if isinstance(command, str) else [str(word) for word in command]
    except ValueError:
        return ""
    for number, word in enumerate(words):
        if word == "--pace" and number + 1 < len(words):
            return words[number + 1]
        if word.startswith("--pace="):
            return word.removeprefix("--pace=")
    return ""
