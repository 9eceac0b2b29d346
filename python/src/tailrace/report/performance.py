"""The performance section: where the time went, and whether the output was hidden."""

from tailrace.report import time_figures
from tailrace.report.load import Run
from tailrace.report.parts import Number, Picture, Section
from tailrace.units import bytes_text, duration_text


def hidden_fraction(run: Run) -> float | None:
    """From run.json, or from the traces of a run that left none; None when nothing was written."""
    if "hidden_fraction" in run.account:
        return run.account["hidden_fraction"]
    write = sum(entry.get("write_s") or 0.0 for entry in run.per_rank)
    wait = sum(entry.get("output_wait_s") or 0.0 for entry in run.per_rank)
    return min(1.0, max(0.0, 1 - wait / write)) if write else None


def performance_section(run: Run) -> Section:
    """Pictures of time and memory."""
    section = Section("time", "Where the time went")
    if run.per_rank and run.wall_s:
        figure = time_figures.time_split(run.per_rank, run.wall_s)
        caption = "Time of every computing thread. Writing happens beside it; copying samples is in other."
        if str(run.account.get("strategy", "")).startswith("blocking"):
            caption = (
                "Time of every rank. Waiting for output is the writing itself: it happens inside the step."
            )
        section.pictures.append(
            Picture(figure, caption + _left_out(run, time_figures.BAR_RANKS), "Time split")
        )
    section.pictures += _timelines(run)
    measured = [entry.get("peak_memory_bytes") or 0 for entry in run.per_rank]
    predicted = [entry.get("predicted_memory_bytes") or 0 for entry in run.per_rank]
    if any(measured):
        figure = time_figures.memory(measured, predicted if all(predicted) else [])
        section.pictures.append(Picture(figure, _memory_caption(measured, predicted), "Memory", half=True))
    if not section.pictures:
        section.notes.append("The run left neither totals nor traces.")
    return section


def _left_out(run: Run, shown: int) -> str:
    return f" {shown} of {len(run.per_rank)} ranks are shown." if len(run.per_rank) > shown else ""


def _timelines(run: Run) -> list[Picture]:
    if not run.traces:
        return []
    ranks = f" {min(run.trace_files, time_figures.LANE_RANKS)} of {run.trace_files} ranks are shown."
    some = ranks if run.trace_files > time_figures.LANE_RANKS else ""
    pictures = [Picture(time_figures.timeline(run.traces), _hidden_text(run) + some, "Timeline")]
    closer = time_figures.lens(run.traces)
    if closer is not None:
        figure, first, last = closer
        caption = (
            "Every span of these steps. While the writer is busy the computation goes on with the next step."
        )
        pictures.append(Picture(figure, caption, f"Steps {first} to {last} under the lens"))
    rate = time_figures.write_rate(run.traces)
    if rate is not None:
        pictures.append(Picture(rate, "Bytes per second given to the file system.", "Write rate", half=True))
    return pictures


def _hidden_text(run: Run) -> str:
    hidden = hidden_fraction(run)
    text = "Heights are shares of each column's time; orange beside green is writing that was waited for. "
    if hidden is None:
        return text + "Nothing was written."
    write = sum(entry.get("write_s") or 0.0 for entry in run.per_rank)
    wait = sum(entry.get("output_wait_s") or 0.0 for entry in run.per_rank)
    return text + (
        f"Hidden fraction {100 * hidden:.0f} %: all ranks together wrote for {duration_text(write)}, "
        f"and the computation stood still for {duration_text(wait)} of it."
    )


def _memory_caption(measured: list, predicted: list) -> str:
    if not all(predicted):
        return "Largest resident memory of every rank."
    worst = max((one / other - 1 for one, other in zip(measured, predicted, strict=True)), key=abs)
    return f"Largest resident memory of every rank; at most {100 * worst:+.1f} % from the prediction."


def performance_numbers(run: Run) -> list[Number]:
    """Key numbers of the run itself."""
    numbers = []
    steps = run.account.get("steps")
    if run.wall_s:
        stepping = max((_stepping(entry) for entry in run.per_rank), default=0.0)
        detail = f"{duration_text(stepping / steps)} per step" if steps and stepping else ""
        numbers.append(Number(duration_text(run.wall_s), "wall time", detail))
    hidden = hidden_fraction(run)
    if hidden is not None:
        wait = max((entry.get("output_wait_s") or 0.0 for entry in run.per_rank), default=0.0)
        detail = f"waited {duration_text(wait)} of {duration_text(run.wall_s)}"
        numbers.append(Number(f"{100 * hidden:.0f} %", "of writing hidden behind computation", detail))
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
    return sum(entry.get(name) or 0.0 for name in ("compute_s", "exchange_s", "output_wait_s"))
