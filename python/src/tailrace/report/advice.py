"""Advice: rules over the measured numbers, each with its evidence."""

from dataclasses import dataclass

from tailrace.report.load import Run
from tailrace.units import bytes_text, duration_text


@dataclass
class Advice:
    """`level` is good, hint or warning; `evidence` holds the numbers that led to it."""

    level: str
    text: str
    evidence: str


def advise(run: Run) -> list[Advice]:
    """All advice for a run, warnings first."""
    rules = (_failure, _output, _exchange, _imbalance, _setup, _memory)
    found = [advice for rule in rules for advice in rule(run)]
    return sorted(found, key=lambda advice: ("warning", "hint", "good").index(advice.level))


def _column(run: Run, name: str) -> list[float]:
    return [float(entry.get(name) or 0.0) for entry in run.per_rank]


def _failure(run: Run) -> list[Advice]:
    error = run.account.get("error") or {}
    if run.status == "failed":
        where = ", ".join(
            f"{name} {error[name]}"
            for name in ("rank", "path", "offset")
            if error.get(name) not in (None, "")
        )
        text = "The run failed. What the output file's record calls complete is intact and can be used."
        return [
            Advice("warning", text, "; ".join(part for part in (error.get("message", ""), where) if part))
        ]
    if run.status == "unaccounted":
        text = "The run left no account. Its series are complete up to the recorded step, nothing else is."
        return [Advice("warning", text, f"no run.json in {run.directory.resolve().name}")]
    return []


def _output(run: Run) -> list[Advice]:
    wait, write, wall = sum(_column(run, "output_wait_s")), sum(_column(run, "write_s")), run.wall_s
    if not run.per_rank or not wall:
        return []
    if not write:
        return [Advice("hint", "Nothing was written while the run went on.", "write time 0 s on all ranks")]
    hidden = max(0.0, 1 - wait / write)
    ranks = len(run.per_rank)
    share = 100 * wait / (ranks * wall)
    evidence = (
        f"hidden {100 * hidden:.0f} %: {duration_text(write / ranks)} of writing per rank, "
        f"computation waited {duration_text(wait / ranks)} ({share:.1f} % of the run)"
    )
    if str(run.account.get("strategy", "")).startswith("blocking"):
        return [_blocking(share, evidence)]
    if hidden < 0.5 and share >= 2:
        return [
            Advice("warning", "The writer is the bottleneck: " + _writer_cure(run), evidence + _rate(run))
        ]
    if share >= 2:
        text = (
            "Part of the writing shows. More buffers help if some writes are slow, a faster disk if all are."
        )
        return [Advice("hint", text, evidence + _rate(run))]
    return [Advice("good", "The output left behind the computation: nothing to gain there.", evidence)]


def _blocking(share: float, evidence: str) -> Advice:
    if share < 2:
        return Advice("good", "Writing inside the step costs little here; blocking output is fine.", evidence)
    return Advice(
        "warning", "Every write stops the computation. `--write threads` would hide most of it.", evidence
    )


def _writer_cure(run: Run) -> str:
    busiest = max(_column(run, "write_s"))
    stepping = max(a + b for a, b in zip(_column(run, "compute_s"), _column(run, "exchange_s"), strict=True))
    if busiest > stepping:
        return (
            "writing takes longer than computing, so no strategy can hide it all. "
            "Record fewer points or later steps, prefer maxima to series, or write to a faster disk."
        )
    return "bursts of writes outlast the buffers. More buffers (`--write threads:4`) or a faster disk help."


def _rate(run: Run) -> str:
    written, busy = (
        run.account.get("output_bytes") or sum(_column(run, "write_bytes")),
        max(_column(run, "write_s")),
    )
    return f"; {bytes_text(written / busy)}/s while writing" if written and busy else ""


def _exchange(run: Run) -> list[Advice]:
    compute, exchange = sum(_column(run, "compute_s")), sum(_column(run, "exchange_s"))
    total = compute + exchange
    if len(run.per_rank) < 2 or not total or exchange / total < 0.3:
        return []
    text = "Much of each step is communication. Fewer ranks with more threads each send less."
    if sum(_column(run, "output_wait_s")) > 0.02 * len(run.per_rank) * run.wall_s:
        text = "Much of each step is exchange, with ranks that wait for output. Look at the output first."
    return [
        Advice(
            "hint",
            text,
            f"exchange {100 * exchange / total:.0f} % of the stepping time on {len(run.per_rank)} ranks",
        )
    ]


def _imbalance(run: Run) -> list[Advice]:
    compute = _column(run, "compute_s")
    mean = sum(compute) / len(compute) if compute else 0.0
    if len(compute) < 2 or not mean or max(compute) / mean < 1.15:
        return []
    slowest = run.per_rank[compute.index(max(compute))].get("rank")
    text = "The ranks do not share the work evenly: other programs run here, or the grid is split unevenly."
    return [
        Advice(
            "hint",
            text,
            f"rank {slowest} computes {max(compute) / mean:.2f} times the mean of {duration_text(mean)}",
        )
    ]


def _setup(run: Run) -> list[Advice]:
    setup = max(_column(run, "setup_s"), default=0.0)
    if not run.wall_s or setup < 5 or setup / run.wall_s < 0.25:
        return []
    text = "Set-up is a large part of this run; it pays off over more steps."
    return [Advice("hint", text, f"{duration_text(setup)} of {duration_text(run.wall_s)}")]


def _memory(run: Run) -> list[Advice]:
    pairs = [
        (measured, predicted)
        for measured, predicted in zip(
            _column(run, "peak_memory_bytes"), _column(run, "predicted_memory_bytes"), strict=True
        )
        if measured and predicted
    ]
    if not pairs:
        return []
    measured, predicted = max(pairs, key=lambda pair: abs(pair[0] / pair[1] - 1))
    if abs(measured / predicted - 1) <= 0.1:
        return []
    text = "Memory differs from the prediction by more than a tenth."
    return [
        Advice(
            "hint", text, f"measured {bytes_text(measured)}, predicted {bytes_text(predicted)} on one rank"
        )
    ]
