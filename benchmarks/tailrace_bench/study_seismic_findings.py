# SPDX-License-Identifier: BSD-3-Clause
"""What the seismic study measured, and the table of speed-ups as it has it, with ours beside."""

from dataclasses import dataclass
from typing import Any

from tailrace_bench.study_results import BLOCKING, COMPUTE

SOURCE = (
    "R. C. Machado, undergraduate thesis, UFRGS, 2024: one process that computes on a Tesla P100 (about 800 "
    "Msamples/s), 151 snapshots of p, disks of 136 and 520 MB/s, cubes of 120 to 504 points with layers "
    "around them. Nothing is flushed there, so that smaller grids measure memory. Here the devices are "
    "slower by as much as the computation, which keeps the ratio of computing to writing. Speed-ups are the "
    "mean time of original (blocking) over the mean time of the variant."
)
OURS = ("threads", "leaders", "uring", "auto")


@dataclass(frozen=True)
class Published:
    """A variant of the study: its name there, and its speed-ups, mean over the grids and best."""

    name: str
    mean: str
    best: str


@dataclass(frozen=True)
class Device:
    key: str
    title: str
    bytes_s: float
    """Of the study's."""
    finding: str
    isend: dict[str, tuple[str, str]]
    """Mean and best of isend_recv by the MPI."""
    others: dict[str, tuple[str, str]]


NAMES = {
    "ranks:1,send": "send_recv",
    "ranks:1,isend": "isend_recv",
    "spawn:1": "all_at_once, one writer",
    **{f"spawn:{count}": f"all_at_once {count}" for count in (2, 4, 8)},
    **{f"spawn-each:{count}": f"one_at_time {count}" for count in (2, 4, 8)},
}
SLOW = Device(
    "slow",
    "Slow device (the study's hard disk)",
    136e6,
    "Means over all grids 1.02 to 1.12. Up to n = 408 the buffers of system and drive hide the write; from "
    "n = 440 on the disk saturates, earlier with overlap because snapshots come faster, and little is "
    "gained: send_recv 1.00, isend_recv 0.78 (Open MPI) at n = 504. More writers help only then.",
    {"openmpi": ("1.12", "1.19"), "mpich": ("1.12", "1.19 (n = 248)")},
    {
        "ranks:1,send": ("1.12", "1.30 (n = 120)"),
        "spawn:2": ("1.11", "1.14 (n = 408)"),
        "spawn:4": ("1.09", ""),
        "spawn:8": ("1.08", ""),
        "spawn-each:2": ("1.08", ""),
        "spawn-each:4": ("1.07", ""),
        "spawn-each:8": ("1.02", ""),
    },
)
FAST = Device(
    "fast",
    "Fast device (the study's solid-state disk)",
    520e6,
    "Means over all grids 1.06 to 1.17, best 1.20 (isend_recv, Open MPI, n = 472). More writers than two "
    "gain less; processes started one by one inside the time loop cost most on small grids.",
    {"openmpi": ("1.17", "1.20 (n = 472)"), "mpich": ("1.14", "1.18 (n = 472)")},
    {
        "ranks:1,send": ("1.14", "1.17 (n = 120)"),
        "spawn:2": ("1.13", "1.16 (n = 472)"),
        "spawn:4": ("1.10", "1.13 (n = 472)"),
        "spawn:8": ("1.09", "1.13 (n = 472)"),
        "spawn-each:2": ("1.12", "1.16 (n = 472)"),
        "spawn-each:4": ("1.10", "1.15 (n = 472)"),
        "spawn-each:8": ("1.06", "1.15 (n = 472)"),
    },
)
DEVICES = (SLOW, FAST)


def ways() -> tuple[str, ...]:
    """The study's, with its original first, and ours."""
    return (BLOCKING, *NAMES, *OURS)


def published(device: Device, way: str, implementation: str) -> Published:
    if way in OURS:
        return Published("", "", "")
    if way == "ranks:1,isend":
        return Published(NAMES[way], *device.isend.get(implementation, ("", "")))
    return Published(NAMES[way], *device.others.get(way, ("", "")))


def summary(
    device: Device, points: list[dict[str, Any]], bytes_s: float, implementation: str
) -> dict[str, Any]:
    """The table of speed-ups: a row per way, a column per grid."""
    rows = []
    for way in points[0]["ways"]:
        if way in (COMPUTE, BLOCKING):
            continue
        speed_ups = [point["ways"][BLOCKING]["mean_s"] / point["ways"][way]["mean_s"] for point in points]
        theirs = published(device, way, implementation)
        rows.append([way, theirs.name, theirs.mean, theirs.best, *cells(points, speed_ups)])
    ceilings = [ceiling(point, bytes_s) for point in points]
    rows.append(["perfect overlap", "", "", "", *cells(points, ceilings)])
    columns = ["speed-up", "the study's name", "its mean", "its best", "mean here", "best here"]
    return {"columns": [*columns, *(point["label"] for point in points)], "rows": rows}


def cells(points: list[dict[str, Any]], speed_ups: list[float]) -> list[str]:
    """Mean, best and each."""
    best = max(range(len(points)), key=lambda number: speed_ups[number])
    mean = sum(speed_ups) / len(speed_ups)
    return [
        f"{mean:.2f}",
        f"{speed_ups[best]:.2f} ({points[best]['label']})",
        *(f"{speed_up:.2f}" for speed_up in speed_ups),
    ]


def ceiling(point: dict[str, Any], bytes_s: float) -> float:
    """(C + W) / max(C, W) of the computation alone and of the writing at the rate of the device."""
    compute_s = point["ways"][COMPUTE]["mean_s"]
    write_s = point["sample_bytes"] * point["snapshots"] / bytes_s
    return (compute_s + write_s) / max(compute_s, write_s)
