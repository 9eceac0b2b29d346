# SPDX-License-Identifier: BSD-3-Clause
"""A real device made slower by the block layer, where this process may ask for it."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tailrace.strategies import dedicated_ranks, name_of, spawned_processes

MOUNTS = Path("/proc/self/mounts")
DEVICES = Path("/sys/dev/block")


@dataclass(frozen=True)
class Throttle:
    """A control group of one run. Version 1 slows direct, synchronous and flushed writes, version 2 all."""

    hierarchy: Path
    version: int
    device: str

    @contextmanager
    def limit(self, bytes_per_s: float) -> Iterator[Callable[[], None]]:
        """Yields what a child calls to be limited, with all that it starts."""
        group = self.hierarchy / f"tailrace-bench-{os.getpid()}"
        group.mkdir()
        try:
            rate = max(1, round(bytes_per_s))
            if self.version == 1:
                (group / "blkio.throttle.write_bps_device").write_text(f"{self.device} {rate}\n")
            else:
                (group / "io.max").write_text(f"{self.device} wbps={rate}\n")
            yield lambda: join(group)
        finally:
            remove(group)


def remove(group: Path) -> None:
    """MPI's helper processes may outlive the ranks for a moment, and a group in use stays."""
    for _ in range(100):
        try:
            return group.rmdir()
        except OSError:
            time.sleep(0.1)
    group.rmdir()


def join(group: Path) -> None:
    (group / "cgroup.procs").write_text("0")


def find_throttle(directory: Path) -> Throttle | str:
    """The throttle for the device below a directory, or why there is none."""
    if os.geteuid() != 0:
        return "only root may throttle a device"
    device = whole_device(directory.stat().st_dev)
    if device is None:
        return "no single block device is below the directory"
    for line in MOUNTS.read_text().splitlines() if MOUNTS.is_file() else []:
        _, point, kind, options, *_ = line.split()
        path = Path(point)
        if kind == "cgroup" and "blkio" in options.split(",") and os.access(path, os.W_OK):
            return Throttle(path, 1, device)
        if kind == "cgroup2" and controls_io(path):
            return Throttle(path, 2, device)
    return "no control group for block devices is mounted"


def controls_io(hierarchy: Path) -> bool:
    enabled = hierarchy / "cgroup.subtree_control"
    return enabled.is_file() and "io" in enabled.read_text().split()


def whole_device(number: int, devices: Path = DEVICES) -> str | None:
    """Numbers of the disk, also where the file system lies on one of its partitions."""
    entry = devices / f"{os.major(number)}:{os.minor(number)}"
    if not entry.exists():
        return None
    real = entry.resolve()
    return ((real.parent if (real / "partition").exists() else real) / "dev").read_text().strip()


def writing_processes(strategy: str, ranks: int) -> int:
    """How many processes share the device."""
    if name_of(strategy) == "leaders":
        return 1
    return dedicated_ranks(strategy) or spawned_processes(strategy) or ranks
