# SPDX-License-Identifier: BSD-3-Clause
"""What the traces and the account say together: lanes, writers, reasons for waiting, balance."""

from dataclasses import dataclass

import numpy as np

from tailrace.report.balance import Blame, blame_of
from tailrace.report.lanes import Lane, lanes_of
from tailrace.report.waits import Reason, reasons_of
from tailrace.report.writers import Writer, writers_of
from tailrace.trace import RunTrace


@dataclass
class DeviceRate:
    """How fast the storage takes bytes, per second, and where the number comes from."""

    value: float
    source: str


@dataclass
class Analysis:
    """Of the ranks whose traces were read. `window`: from the first output to the end of the computation."""

    lanes: list[Lane]
    mains: list[Lane]
    writers: list[Writer]
    reasons: list[Reason]
    blame: Blame | None
    device: DeviceRate | None
    window: tuple[float, float]

    @property
    def wait_s(self) -> float:
        """All waiting of the computation for output, in seconds summed over ranks."""
        return sum(reason.seconds for reason in self.reasons)

    @property
    def write_s(self) -> float:
        """All writing, in seconds summed over writers."""
        return sum(writer.busy_s for writer in self.writers) + sum(
            lane.seconds("write", "sync", "gather") for lane in self.mains
        )

    def writer_of(self, rank: int) -> Writer | None:
        """Who writes for a rank; None where it writes by itself or nothing is known."""
        return next((writer for writer in self.writers if rank in writer.members), None)


def analyse(trace: RunTrace, account: dict) -> Analysis:
    """All that the report says about the times of a run."""
    lanes = lanes_of(trace)
    mains = [lane for lane in lanes if lane.computes]
    writers = writers_of(lanes, account.get("per_rank") or [])
    device, window = device_rate(account), _window(lanes, mains)
    rate = device.value if device else None
    return Analysis(
        lanes, mains, writers, reasons_of(mains, writers, rate, window), blame_of(mains), device, window
    )


def _window(lanes: list[Lane], mains: list[Lane]) -> tuple[float, float]:
    starts = [
        times[0][0]
        for lane in lanes
        if len((times := lane.intervals("pack", "output_wait", "write", "gather"))[0])
    ]
    ends = [times[1][-1] for lane in mains if len((times := lane.intervals("compute", "exchange"))[1])]
    return (float(min(starts)), float(max(ends))) if starts and ends else (0.0, 0.0)


def device_rate(account: dict) -> DeviceRate | None:
    """The rate of the outputs that the planner measured; None when none did. It counts the flush where the
    planner does: if the output does not fit into the page cache.
    """
    measured = (account.get("plan") or {}).get("measured") or {}
    flushed = bool(measured.get("beyond_page_cache"))
    size, seconds = _number(measured.get("bytes_per_output")), _number(measured.get("write_s"))
    if flushed:
        seconds += _number(measured.get("flush_s"))
    if not size or not seconds:
        return None
    kept = "with the flush" if flushed else "into memory, which keeps all of this output"
    return DeviceRate(size / seconds, f"as the planner measured it, {kept}")


def _number(value) -> float:
    return float(value) if isinstance(value, int | float) and np.isfinite(value) and value > 0 else 0.0
