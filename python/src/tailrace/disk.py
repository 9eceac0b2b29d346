# SPDX-License-Identifier: BSD-3-Clause
"""What a directory's file system is and how fast it writes."""

import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from tailrace.units import bytes_text

SAMPLE_BYTES = 64 << 20
BLOCK_BYTES = 4 << 20


def examine_disk(directory: Path) -> dict[str, Any]:
    """Type, free space and write speed of the directory's file system."""
    free = shutil.disk_usage(directory).free
    found: dict[str, Any] = {
        "directory": str(directory),
        "type": file_system_type(directory) or "unknown",
        "free": bytes_text(free),
    }
    if not os.access(directory, os.W_OK):
        return found | {"write speed": "not measured: the directory is not writable"}
    if free < 4 * SAMPLE_BYTES:
        return found | {"write speed": "not measured: too little space is free"}
    buffered, synced = measure_write(directory)
    size = bytes_text(SAMPLE_BYTES)
    return found | {
        "write, buffered": f"{bytes_text(buffered)}/s ({size} into an existing file)",
        "write, with fsync": f"{bytes_text(synced)}/s",
    }


def file_system_type(directory: Path, mounts: Path = Path("/proc/self/mounts")) -> str | None:
    """The type of the mount that the directory lies on: the longest mount point, and the last of equals."""
    if not mounts.is_file():
        return None
    best = (-1, "")
    target = directory.resolve()
    for line in mounts.read_text().splitlines():
        _, point, kind, *_ = line.split()
        place = Path(point.encode().decode("unicode_escape"))
        if target.is_relative_to(place) and len(place.parts) >= best[0]:
            best = (len(place.parts), kind)
    return best[1] or None


def measure_write(directory: Path) -> tuple[float, float]:
    """Bytes per second into a warmed file, without and with waiting for the device."""
    with tempfile.NamedTemporaryFile(dir=directory, prefix=".tailrace-doctor-", buffering=0) as file:
        block = os.urandom(BLOCK_BYTES)
        # The first pass allocates the blocks and fills the page cache; only rewriting is timed.
        write_sample(file.fileno(), block)
        os.fsync(file.fileno())
        started = time.perf_counter()
        write_sample(file.fileno(), block)
        buffered_s = time.perf_counter() - started
        os.fsync(file.fileno())
        started = time.perf_counter()
        write_sample(file.fileno(), block)
        os.fsync(file.fileno())
        synced_s = time.perf_counter() - started
    return SAMPLE_BYTES / buffered_s, SAMPLE_BYTES / synced_s


def write_sample(descriptor: int, block: bytes) -> None:
    for offset in range(0, SAMPLE_BYTES, len(block)):
        os.pwrite(descriptor, block, offset)
