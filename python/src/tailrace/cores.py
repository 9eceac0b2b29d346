# SPDX-License-Identifier: BSD-3-Clause
"""How many cores this process may use."""

import os
from pathlib import Path

SYSTEM = Path("/sys")


def usable_cores() -> int:
    """Logical cores of the affinity mask, cut by the control group's quota."""
    cores = len(os.sched_getaffinity(0))
    quota = cpu_quota()
    return cores if quota is None else max(1, min(cores, round(quota)))


def cpu_quota(system: Path = SYSTEM) -> float | None:
    """Cores' worth of time that the control group allows, or None without a limit."""
    limits = []
    for path in (system / "fs/cgroup").joinpath("cpu.max"), own_group(system) / "cpu.max":
        if path.is_file():
            limit, period = path.read_text().split()
            if limit != "max":
                limits.append(int(limit) / int(period))
    return min(limits) if limits else None


def own_group(system: Path) -> Path:
    listing = Path("/proc/self/cgroup")
    if listing.is_file():
        for line in listing.read_text().splitlines():
            if line.startswith("0::"):
                return system / "fs/cgroup" / line[3:].lstrip("/")
    return system / "fs/cgroup"


def physical_cores(system: Path = SYSTEM) -> int:
    """Physical cores behind the affinity mask: hardware threads of one core count once."""
    cores = set()
    for cpu in os.sched_getaffinity(0):
        topology = system / f"devices/system/cpu/cpu{cpu}/topology"
        try:
            cores.add(tuple((topology / name).read_text() for name in ("physical_package_id", "core_id")))
        except OSError:
            cores.add((str(cpu),))
    return len(cores)


def numa_nodes(system: Path = SYSTEM) -> int:
    return max(1, len(list((system / "devices/system/node").glob("node[0-9]*"))))
