# SPDX-License-Identifier: BSD-3-Clause
"""Advice on output: why the computation waits for it, and what helps."""

from collections.abc import Callable

from tailrace.report.load import Run
from tailrace.report.parts import Advice
from tailrace.report.waits import SHORT, Reason
from tailrace.report.writers import Writer
from tailrace.strategies import name_of, number_of
from tailrace.time_parts import parts_s
from tailrace.units import bytes_text, duration_text

_MATTERS = 2.0  # waiting below this many percent of the run is not worth a word
_FLUSH_MATTERS = 5.0
_TINY_BYTES = 32 << 10
_TINY_WRITES = 1000
_CPU_SHARE = 0.1  # processor time of the writers, as a part of the computing
_CPU_BUSY = 0.5  # and as a part of their writing


def output_advice(run: Run) -> list[Advice]:
    """What is to be said about output; good news where there is nothing to gain."""
    write, wall = sum(run.column("write_s")), run.wall_s
    if not run.per_rank or not wall:
        return []
    if not write and not run.analysis.write_s:
        return [Advice("hint", "Nothing was written while the run continued.", "write time 0 s on all ranks")]
    write = write or run.analysis.write_s
    hidden, ranks = run.hidden or 0.0, len(run.per_rank)
    visible = parts_s(run.per_rank, wall)["output"]
    share = 100 * visible / wall
    evidence = (
        f"hidden {100 * hidden:.0f} %: {duration_text(write / ranks)} of writing per rank, "
        f"waiting and copying held the computation up for {duration_text(visible)} ({share:.1f} % of the run)"
    )
    found = _by_reason(run, evidence) if run.analysis.reasons else _by_totals(run, hidden, share, evidence)
    found += _tiny(run, wall * ranks) + _writer_cpu(run) + _copying(run)
    if any(advice.level != "good" for advice in found):
        return found
    if _is_blocking(run):
        return [
            Advice("good", "Writing inside the step costs little here; blocking output is fine.", evidence)
        ]
    return [Advice("good", "The output left asynchronously: nothing to gain there.", evidence)]


def _by_reason(run: Run, evidence: str) -> list[Advice]:
    whole = run.wall_s * max(1, len(run.analysis.mains))
    found = []
    for reason in run.analysis.reasons:
        share = 100 * reason.seconds / whole
        if share < (_FLUSH_MATTERS if reason.kind in ("final", "flush") else _MATTERS):
            continue
        text = _TEXTS[reason.kind](run, reason)
        waited = (
            f"waited {duration_text(reason.seconds)} over all ranks, {share:.0f} % of the run "
            f"({SHORT[reason.kind]})"
        )
        level = (
            "hint" if reason.kind in ("final", "flush", "others", "handing_over", "transfer") else "warning"
        )
        found.append(Advice(level, text, "; ".join(part for part in (waited, reason.evidence) if part)))
    if found:
        found[0].evidence += f"; {evidence}"
    return found


def _copying(run: Run) -> list[Advice]:
    """Copying is short, unless threads of OpenMP that spin keep the core from the one that copies."""
    copied_s, threads = sum(run.column("pack_s")), run.account.get("threads", 1)
    share = 100 * copied_s / (run.wall_s * len(run.per_rank))
    if share < _MATTERS or threads < 2:
        return []
    text = (
        "Copying samples takes long. On a machine that others use too, `OMP_WAIT_POLICY=passive` helps: "
        "threads that wait for the next loop then leave the core to the one that copies."
    )
    return [Advice("hint", text, f"{duration_text(copied_s)} over all ranks, {share:.1f} % of the run")]


def _by_totals(run: Run, hidden: float, share: float, evidence: str) -> list[Advice]:
    """For runs without traces."""
    if share < _MATTERS:
        return []
    if _is_blocking(run):
        return [Advice("warning", _blocking(run, None), evidence)]
    if hidden < 0.5:
        return [Advice("warning", "The writer is the bottleneck. " + _less(run), evidence)]
    text = "Part of the writing shows. More buffers help if some writes are slow, a faster disk if all are."
    return [Advice("hint", text, evidence)]


def _device(run: Run, reason: Reason | None) -> str:
    return "The device is too slow for this output: the writer is the bottleneck. " + _less(run)


def _less(run: Run) -> str:
    busiest = max([*run.column("write_s"), *(writer.busy_s for writer in run.analysis.writers)])
    stepping = max(a + b for a, b in zip(run.column("compute_s"), run.column("exchange_s"), strict=True))
    if busiest > stepping:
        return (
            "Writing takes longer than computing, so no strategy can hide it all. "
            "Sample fewer points or later steps, prefer maxima to series, or write to a faster disk."
        )
    return (
        "Writing takes nearly as long as computing: a faster disk or less output helps, more buffers "
        "only for bursts."
    )


def _worst_writer(run: Run, reason: Reason) -> Writer | None:
    rank = max(reason.by_rank, key=lambda one: reason.by_rank[one])
    return run.analysis.writer_of(rank)


def _leader(run: Run, reason: Reason) -> str:
    writer, writers = _worst_writer(run, reason), run.analysis.writers
    if writer is None:
        return "A writer is overloaded."
    if len(writer.members) < 2:
        cure = (
            "Its rank has more output than others: with `--write leaders` the ranks of a node share writers."
        )
    elif writer.role == "writer":
        cure = f"More writer processes (`--write ranks:{len(writers) + 1}`) would share the work."
    else:
        group = (len(writer.members) + 1) // 2
        cure = f"Smaller groups (`--write leaders:{group}`, or `threads`) would share the work."
    if len(writers) == 1 and run.analysis.device is None:
        cure += " They do not help if it is the device that is slow; `tailrace doctor` measures it."
    return f"The {writer.name} is overloaded: it writes for {writer.serves}, which wait for it. {cure}"


def _slow_writer(run: Run, reason: Reason) -> str:
    writer = _worst_writer(run, reason)
    if writer is None:
        return "One writer is slower than the others."
    return (
        f"The {writer.name} on {writer.host or 'its node'} writes more slowly than the others. "
        "Look at that node's storage and "
        "network, and at what else runs on its processors."
    )


def _cpu_bound(run: Run, reason: Reason) -> str:
    if name_of(str(run.account.get("sink", ""))) == "hdf5-chunked":
        return (
            "Compressing takes the writers' time. `--sink hdf5` writes without, `hdf5-chunked:1` "
            "compresses faster."
        )
    return (
        "The writers lack processor time. Leave them free cores: fewer threads per rank, or fewer "
        "ranks per node."
    )


def _burst(run: Run, reason: Reason) -> str:
    strategy = _strategy(run)
    more = (number_of(strategy) or 0) + 2
    return (
        "Outputs come in bursts, or some writes are slow, but on average the writers keep up: "
        "more buffers help"
        f"{f' (`--write threads:{more}`)' if name_of(strategy) == 'threads' else ''}."
    )


def _strategy(run: Run) -> str:
    return str(run.account.get("strategy", ""))


def _is_blocking(run: Run) -> bool:
    return name_of(_strategy(run)) == "blocking"


def _blocking(run: Run, reason: Reason | None) -> str:
    return "Every write stops the computation. `--write threads` would hide most of it."


def _transfer(run: Run, reason: Reason) -> str:
    return (
        "Bringing samples to their writer costs the computation time. `--write leaders`, which "
        "share memory within a node, "
        "or `threads` send nothing."
    )


def _flush(run: Run, reason: Reason) -> str:
    return (
        "The computation waits for flushes to the device. Checkpoints less often, or no `--flush`, "
        "make fewer."
    )


def _final(run: Run, reason: Reason) -> str:
    return (
        "Much is still to be written when the computation ends, and nothing is left to hide it "
        "behind. More steps, or fewer "
        "results that come only at the end, make this part smaller."
    )


def _others(run: Run, reason: Reason) -> str:
    return (
        "The computation waits for output although its writer is idle: ranks wait for each other "
        "inside the output. "
        "Look at the balance of the ranks first."
    )


def _handing_over(run: Run, reason: Reason) -> str:
    return (
        "The computation waits for output while its writer has not begun to write. A core that is free "
        "for the writer (fewer threads per rank) lets it begin sooner."
    )


_TEXTS: dict[str, Callable[[Run, Reason], str]] = {
    "device": _device,
    "leader": _leader,
    "slow_writer": _slow_writer,
    "writer_cpu": _cpu_bound,
    "burst": _burst,
    "blocking": _blocking,
    "transfer": _transfer,
    "flush": _flush,
    "final": _final,
    "others": _others,
    "handing_over": _handing_over,
}


def _tiny(run: Run, whole_s: float) -> list[Advice]:
    writes, size, busy = sum(run.column("writes")), sum(run.column("write_bytes")), sum(run.column("write_s"))
    if writes < _TINY_WRITES or size / writes > _TINY_BYTES or 100 * busy < _MATTERS * whole_s:
        return []
    text = (
        "The output goes out in many tiny writes, which cost more than their bytes. Boxes "
        "instead of scattered points, or more "
        "buffers, which gather steps, make them larger."
    )
    return [
        Advice(
            "hint",
            text,
            f"{writes:.0f} writes of {bytes_text(size / writes)} on average, {duration_text(busy)} in all",
        )
    ]


def _writer_cpu(run: Run) -> list[Advice]:
    cpu, write, compute = (sum(run.column(name)) for name in ("write_cpu_s", "write_s", "compute_s"))
    reported = any(reason.kind == "writer_cpu" for reason in run.analysis.reasons)
    blocking = _is_blocking(run)
    if reported or blocking or not compute or cpu < max(_CPU_SHARE * compute, _CPU_BUSY * write):
        return []
    text = (
        "The writers need much processor time, which the computation loses where they share cores. "
        "Leave them free cores."
    )
    evidence = f"{duration_text(cpu)} of processor time for writing, {duration_text(compute)} of computing"
    return [Advice("hint", text, evidence)]
