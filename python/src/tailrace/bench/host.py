# SPDX-License-Identifier: BSD-3-Clause
"""The machine, and what else ran on it during a measurement."""

import os
import platform
import resource
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tailrace.cores import physical_cores, usable_cores

# Above this share of the cores' time used by others, a measurement counts as disturbed.
DISTURBED = 0.05


def describe_machine() -> dict[str, Any]:
    return {
        "host": platform.node(),
        "system": f"{platform.system()} {platform.release()}",
        "processor": processor_name(),
        "cores": usable_cores(),
        "physical_cores": physical_cores(),
    }


def processor_name(listing: Path = Path("/proc/cpuinfo")) -> str:
    if listing.is_file():
        for line in listing.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


@dataclass(frozen=True)
class CpuTimes:
    """CPU seconds of the whole machine: used by anyone, and taken by the hypervisor."""

    busy_s: float = 0.0
    stolen_s: float = 0.0

    @staticmethod
    def now(listing: Path = Path("/proc/stat")) -> "CpuTimes":
        if not listing.is_file():
            return CpuTimes()
        ticks = [int(word) for word in listing.read_text().split("\n", 1)[0].split()[1:]]
        user, nice, system, _idle, _wait, interrupts, soft, stolen = ticks[:8]
        second = os.sysconf("SC_CLK_TCK")
        return CpuTimes((user + nice + system + interrupts + soft) / second, stolen / second)


def own_cpu_s() -> float:
    """CPU seconds of this process and of all programs that it started and that have ended."""
    total = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        total += usage.ru_utime + usage.ru_stime
    return total


@dataclass
class Watch:
    """Load average, and the share of the cores' time that others used, between start and stop."""

    load_before: tuple[float, float, float] = field(default_factory=os.getloadavg)
    started: float = field(default_factory=time.monotonic)
    own_s: float = field(default_factory=own_cpu_s)
    machine: CpuTimes = field(default_factory=CpuTimes.now)

    def stop(self) -> dict[str, Any]:
        wall_s = time.monotonic() - self.started
        now = CpuTimes.now()
        available_s = max(wall_s, 1e-9) * (os.cpu_count() or 1)
        others_s = now.busy_s - self.machine.busy_s - (own_cpu_s() - self.own_s)
        others = max(0.0, others_s / available_s)
        return {
            "wall_s": wall_s,
            "load_before": list(self.load_before),
            "load_after": list(os.getloadavg()),
            "others_cpu_share": others,
            "stolen_cpu_share": (now.stolen_s - self.machine.stolen_s) / available_s,
            "disturbed": others > DISTURBED,
        }


def watch_text(watched: dict[str, Any]) -> str:
    before, after = watched["load_before"][0], watched["load_after"][0]
    text = (
        f"load average {before:.2f} before, {after:.2f} after; other programs used "
        f"{100 * watched['others_cpu_share']:.1f} % of the cores, the hypervisor took "
        f"{100 * watched['stolen_cpu_share']:.1f} %"
    )
    return f"{text}. DISTURBED: measure again on a quiet machine." if watched["disturbed"] else text
