# SPDX-License-Identifier: BSD-3-Clause
"""Where the computation waited for output, and why: every second of waiting gets one reason."""

from dataclasses import dataclass, field

import numpy as np

from tailrace.report import intervals
from tailrace.report.intervals import Intervals
from tailrace.report.lanes import Lane
from tailrace.report.writers import Writer
from tailrace.units import bytes_text, duration_text

LABELS = {
    "device": "slow device: no buffer was free while the writers were writing",
    "leader": "overloaded writer: it has more to write than others, its members wait",
    "slow_writer": "one slow writer: it writes more slowly than the others",
    "writer_cpu": "the writer lacks processor time",
    "burst": "too few buffers: writers keep up on average, but not with every output",
    "blocking": "blocking strategy: the rank writes by itself",
    "transfer": "samples travel to their writer",
    "flush": "the samples are flushed to the device",
    "final": "final flush: what was left when the computation had ended",
    "others": "the writer was idle: waiting for other ranks",
    "handing_over": "samples are handed to the writer, which does not write yet",
}
SHORT = {
    "device": "slow device",
    "leader": "overloaded writer",
    "slow_writer": "one slow writer",
    "writer_cpu": "writer's processor",
    "burst": "too few buffers",
    "blocking": "blocking strategy",
    "transfer": "transfer to writer",
    "flush": "flush to the device",
    "final": "final flush",
    "others": "waiting for other ranks",
    "handing_over": "handing over",
}
_BUSY = 0.75  # a writer that works less than this part of the time keeps up on average
_UNEVEN = 1.4  # a writer this much busier than the others differs
_SLOW = 0.6  # so does one that writes at less than this part of the others' rate
_CPU_BOUND = 0.7  # processor seconds per second of writing


@dataclass
class Reason:
    """Seconds that all ranks together waited for one reason; `by_rank` splits them."""

    kind: str
    by_rank: dict[int, float] = field(default_factory=dict)
    evidence: str = ""

    @property
    def seconds(self) -> float:
        return sum(self.by_rank.values())


def reasons_of(
    mains: list[Lane], writers: list[Writer], device_rate: float | None, window: tuple[float, float]
) -> list[Reason]:
    """The reasons for all waiting, longest first. `window`: the time in which outputs are taken;
    `device_rate`: bytes per second of the storage, if it was measured.
    """
    causes = {writer.rank: cause_of(writer, writers, device_rate, window) for writer in writers}
    reasons: dict[str, Reason] = {}
    for main in mains:
        writer = next((one for one in writers if main.rank in one.members), None)
        kind, evidence = causes[writer.rank] if writer else ("device", "")
        rest = "others" if len(mains) > 1 else "handing_over"
        kind_of = {"busy": kind, "rest": rest}
        for part, times in _parts(main, writer):
            _add(reasons, kind_of.get(part, part), main.rank, times, evidence)
    for reason in reasons.values():
        reason.evidence = reason.evidence or _evidence(reason)
    return sorted(reasons.values(), key=lambda reason: -reason.seconds)


def _add(reasons: dict[str, Reason], kind: str, rank: int, times: Intervals, evidence: str) -> None:
    seconds = intervals.total_s(times)
    if seconds <= 0:
        return
    reason = reasons.setdefault(kind, Reason(kind))
    if kind in ("device", "leader", "slow_writer", "writer_cpu", "burst") and not reason.evidence:
        reason.evidence = evidence
    reason.by_rank[rank] = reason.by_rank.get(rank, 0.0) + seconds


def _parts(main: Lane, writer: Writer | None) -> list[tuple[str, Intervals]]:
    """A rank's waiting, cut into parts: by itself, after the computation, and by what its writer did."""
    waits = main.output("output_wait")
    end = np.array([_computed_until(main)])
    final = intervals.intersection(waits, (end, np.array([np.inf])))
    waits = intervals.difference(waits, final)
    parts = [
        ("blocking", main.output("write", "sync")),
        ("transfer", main.output("gather")),
        ("final", final),
    ]
    if writer is None:
        return [*parts, ("rest", waits)]
    for name, kind in (("flush", "sync"), ("busy", "write"), ("transfer", "gather")):
        times = intervals.intersection(waits, writer.times(kind))
        waits = intervals.difference(waits, times)
        parts.append((name, times))
    return [*parts, ("rest", waits)]


def _computed_until(main: Lane) -> float:
    ends = main.intervals("compute", "exchange")[1]
    return float(ends[-1]) if len(ends) else np.inf


def cause_of(
    writer: Writer, writers: list[Writer], device_rate: float | None, window: tuple[float, float]
) -> tuple[str, str]:
    """Why a busy writer keeps its members waiting, with the evidence."""
    others = [one for one in writers if one is not writer]
    share = writer.busy_share(*window)
    about = (
        f"the {writer.name} writes for {writer.serves}, is busy {100 * share:.0f} % of the time "
        "between the first "
        f"and the last output, and writes {bytes_text(writer.rate)}/s meanwhile"
    )
    usual_busy = float(np.median([one.busy_s for one in others])) if others else 0.0
    usual_rate = float(np.median([one.rate for one in others])) if others else 0.0
    if others and writer.busy_s > _UNEVEN * usual_busy:
        than = (
            f"; the others are busy {duration_text(usual_busy)} (median), it {duration_text(writer.busy_s)}"
        )
        if writer.rate < _SLOW * usual_rate:
            return "slow_writer", f"{about}, the others {bytes_text(usual_rate)}/s{than}"
        return "leader", about + than
    if share < _BUSY:
        return "burst", about
    if writer.cpu_s is not None and writer.cpu_s > _CPU_BOUND * writer.busy_s:
        return "writer_cpu", f"{about}; of this {100 * writer.cpu_s / writer.busy_s:.0f} % is processor time"
    return _device_or_leader(writer, writers, device_rate, about)


def _device_or_leader(
    writer: Writer, writers: list[Writer], device_rate: float | None, about: str
) -> tuple[str, str]:
    """For writers that are all busy: does the device limit them, or are there too few of them?"""
    rate = sum(one.rate for one in writers)
    if len(writers) > 1:
        about = (
            f"all {len(writers)} writers are about equally busy and write {bytes_text(rate)}/s "
            f"together; {about}"
        )
    if device_rate:
        about += f"; the device took {bytes_text(device_rate)}/s when it was measured"
    serves_several = len(writer.members) > 1
    if serves_several and (rate < 0.5 * device_rate if device_rate else len(writers) == 1):
        return "leader", about
    return "device", about


def _evidence(reason: Reason) -> str:
    worst = max(reason.by_rank, key=lambda rank: reason.by_rank[rank])
    count = len(reason.by_rank)
    return (
        f"on {count} {'rank' if count == 1 else 'ranks'}; longest on rank {worst}: "
        f"{duration_text(reason.by_rank[worst])}"
    )
