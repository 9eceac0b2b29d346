# SPDX-License-Identifier: BSD-3-Clause
"""The section on time: how it was spent, thread by thread, and how evenly."""

from statistics import fmean

import numpy as np

from tailrace.account import segment_steps
from tailrace.report import time_figures, timeline, wait_figures
from tailrace.report.lanes import Lane
from tailrace.report.load import Run
from tailrace.report.parts import Number, Picture, Section, TimelineView
from tailrace.report.plan_section import binding_table
from tailrace.time_parts import part_s, visible_fraction
from tailrace.units import bytes_text, duration_text

LENS_STEPS = 4
LINES = 5  # ranks in pictures with a line for each


def performance_section(run: Run) -> Section:
    """Time split, timeline, balance, memory, binding."""
    section = Section("time", "Where the time went")
    if run.per_rank and run.wall_s:
        figure = time_figures.time_split(run.per_rank, run.wall_s)
        caption = (
            "Time of every computing thread. Output is what it costs this thread: waiting for writers, or "
            "writing where it writes itself, and copying samples. Other is the end of the run and what no "
            "span was measured for."
        )
        section.pictures.append(
            Picture(figure, caption + _left_out(run, time_figures.BAR_RANKS), "Time split")
        )
    section.pictures += _timelines(run)
    if len(run.per_rank) > 1:
        caption = (
            "Seconds of every rank on an axis of its own per kind of work"
            + ("; dotted: the median." if len(run.per_rank) > 2 else ".")
            + _blame_text(run)
        )
        section.pictures.append(Picture(wait_figures.balance(run.per_rank), caption, "Balance of the ranks"))
    section.pictures += _memory(run)
    if table := binding_table(run):
        section.pictures.append(table)
    if not section.pictures:
        section.notes.append("The run left neither totals nor traces.")
    section.notes += run.trace.problems[:8]
    return section


def _left_out(run: Run, shown: int) -> str:
    return f" {shown} of {len(run.per_rank)} ranks are shown." if len(run.per_rank) > shown else ""


def _timelines(run: Run) -> list[TimelineView]:
    whole = timeline.build(run.analysis, run.trace.clock_error_s)
    if whole is None:
        return []
    views = [TimelineView("time-line", whole.payload(), _timeline_text(run, whole), "Timeline")]
    window = _lens(run.analysis.mains)
    if window is not None:
        first, last, begin, end = window
        caption = "While writers work, the computation continues with the next step until no buffer is free."
        views.append(
            TimelineView("time-line", None, caption, f"Steps {first} to {last} under the lens", (begin, end))
        )
    return views


def _timeline_text(run: Run, whole: timeline.Timeline) -> str:
    text = (
        "Drag to zoom into an interval, double-click for the whole run; Ctrl and wheel zoom too, "
        "arrow keys move. Where a pixel "
        "holds more than one span, heights are shares of its time. A writer is below the "
        "ranks that it writes for. White is time between spans: preparations, progress, and other programs."
    )
    if whole.left_out:
        text += (
            f" {whole.ranks - whole.left_out} ranks of {run.trace_files} processes are shown: those "
            "that differ, and others evenly."
        )
    if any(row.cell_s for row in whole.rows):
        cell = max(row.cell_s for row in whole.rows)
        text += (
            " There are more spans than a page should hold, so they are summed over intervals of up "
            f"to {duration_text(cell)}."
        )
    if clock := _clock_text(run):
        text += f" {clock}"
    return text


def _clock_text(run: Run) -> str:
    """How well the clocks of the ranks agree, where that is not negligible beside what was measured."""
    error = run.trace.clock_error_s
    return f"Clocks of different nodes agree within {duration_text(error)}." if error >= 1e-6 else ""


def _lens(mains: list[Lane]) -> tuple[int, int, float, float] | None:
    """A few steps to look at closely: around the longest wait for output, else the middle of the run."""
    best = None
    for lane in mains:
        waits = lane.of_kind("output_wait")
        computed = lane.of_kind("compute")
        waits = waits[waits["step"] < computed["step"].max(initial=0)]
        if len(waits):
            longest = waits[np.argmax(waits["end_s"] - waits["start_s"])]
            length = float(longest["end_s"] - longest["start_s"])
            best = max(best or (0.0, 0), (length, int(longest["step"])))
    steps = [lane.events["step"][lane.events["step"] > 0] for lane in mains]
    steps = [one for one in steps if len(one)]
    if not steps:
        return None
    middle = best[1] if best else int(np.median(np.concatenate(steps)))
    first = max(1, middle - LENS_STEPS // 2)
    last = min(first + LENS_STEPS - 1, max(int(one.max()) for one in steps))
    begin, end = np.inf, 0.0
    for lane in mains:
        chosen = lane.of_kind("compute")
        chosen = chosen[(chosen["step"] >= first) & (chosen["step"] <= last)]
        begin = min(begin, float(chosen["start_s"].min(initial=np.inf)))
        end = max(end, float(chosen["end_s"].max(initial=0.0)))
    return (first, last, begin, end) if end > begin else None


def _blame_text(run: Run) -> str:
    blame = run.analysis.blame
    if blame is None or not blame.exchange_s or blame.seconds < 0.05 * blame.exchange_s:
        return ""
    worst = max(blame.by_rank, key=lambda rank: blame.by_rank[rank])
    share = 100 * blame.by_rank[worst] / blame.seconds
    text = (
        f" Of the time in exchanges {100 * blame.seconds / blame.exchange_s:.0f} % "
        f"({duration_text(blame.seconds)} over all ranks) "
        f"is waiting for the rank that comes last; {share:.0f} % of it for rank {worst}."
    )
    if blame.output_s > 0.1 * blame.seconds:
        text += f" For {duration_text(blame.output_s)} of it that rank itself had waited for output."
    return text


def _memory(run: Run) -> list[Picture]:
    pictures = []
    shown = set(timeline.notable_ranks(run.analysis, LINES))
    shown |= {lane.rank for lane in run.analysis.lanes if lane.role == "writer"}
    lanes = [lane for lane in run.analysis.lanes if lane.rank in shown]
    figure = wait_figures.levels(lanes, "memory_bytes", run.trace.last_s, "B")
    if figure is not None:
        pictures.append(Picture(figure, "Resident memory of the processes.", "Memory over time", half=True))
    measured = [entry.get("peak_memory_bytes") or 0 for entry in run.per_rank]
    predicted = [entry.get("predicted_memory_bytes") or 0 for entry in run.per_rank]
    if any(measured):
        figure = time_figures.memory(measured, predicted if all(predicted) else [])
        pictures.append(Picture(figure, _memory_caption(measured, predicted), "Memory", half=True))
    return pictures


def _memory_caption(measured: list, predicted: list) -> str:
    if not all(predicted):
        return "Largest resident memory of every rank."
    worst = max((one / other - 1 for one, other in zip(measured, predicted, strict=True)), key=abs)
    return f"Largest resident memory of every rank; at most {100 * worst:+.1f} % from the prediction."


def performance_numbers(run: Run) -> list[Number]:
    """Key numbers of the run itself."""
    numbers = []
    steps = segment_steps(run.account)
    if run.wall_s:
        stepping = max((_stepping(entry) for entry in run.per_rank), default=0.0)
        detail = f"{duration_text(stepping / steps)} per step" if steps and stepping else ""
        numbers.append(Number(duration_text(run.wall_s), "wall time", detail))
    if run.hidden is not None and run.wall_s:
        waited, copied, written = (fmean(run.column(name)) for name in ("output_wait_s", "pack_s", "write_s"))
        detail = f"waiting {duration_text(waited)}, copying {duration_text(copied)}; "
        detail += f"writing {duration_text(written)}"
        share = 100 * visible_fraction(run.per_rank, run.wall_s)
        numbers.append(Number(f"{share:.1f} %", "of the run taken by output", detail))
    size = run.account.get("output_bytes")
    if size:
        numbers.append(Number(bytes_text(size), "written", run.account.get("strategy", "")))
    peak = run.account.get("peak_memory_bytes")
    if peak:
        numbers.append(
            Number(bytes_text(max(peak)), "peak memory of a rank", f"{bytes_text(sum(peak))} in total")
        )
    return numbers


def _stepping(entry: dict) -> float:
    return sum(part_s(entry, part) for part in ("compute", "exchange", "output"))
