# SPDX-License-Identifier: BSD-3-Clause
"""The experiments of `tailrace bench study ultrasound`, each beside what the study found."""

from dataclasses import dataclass

from tailrace.bench.rehearsal import EDGE, VALUE_BYTES
from tailrace.units import bytes_text
from tailrace_bench.study_results import BLOCKING

SOURCE = (
    "J. Kondula, Non-blocking Input/Output for the k-Wave Project, Brno University of Technology, 2020: a "
    "cluster of 24 cores per node, Lustre, parallel HDF5; here one machine, and rehearsals of the same "
    "shapes of output."
)
PLANE_BYTES = EDGE * EDGE * VALUE_BYTES


@dataclass(frozen=True)
class Point:
    """One load, and the ways to write it."""

    label: str
    words: tuple[str, ...]
    strategies: tuple[str, ...] = (BLOCKING, "threads")
    planes: int = 32
    """Of 128 x 128 points in a sample."""
    ranks: int | None = None
    cores: int | None = None
    """The process may use so many; None: all."""
    load: str = "matmul"


@dataclass(frozen=True)
class Experiment:
    key: str
    title: str
    finding: str
    """The study's own."""
    points: tuple[Point, ...]


def experiments(ranks: int, cores: int, strategies: list[str]) -> list[Experiment]:
    """Those that this machine and this build can do."""
    found = [sizes(), one_rank(strategies), cuboids(), buffers(), loads(ranks)]
    if "leaders" in strategies and ranks > 1:
        found.insert(3, groups(ranks))
    if cores > 1:
        found.append(writer_core())
    return found


def sizes() -> Experiment:
    points = tuple(Point(bytes_text(planes * PLANE_BYTES), (), planes=planes) for planes in (2, 8, 32, 128))
    finding = (
        "k-Wave, 512^3 points, 128 ranks on 6 nodes, a cuboid over all ranks, 1, 8 and 256 MB per step: "
        "the gain grows with the size; 33 % at best. It pays from about 2 MB per step on."
    )
    return Experiment("sizes", "Bytes per step", finding, points)


def one_rank(strategies: list[str]) -> Experiment:
    ways = (BLOCKING, "threads", *(name for name in ("leaders",) if name in strategies))
    points = tuple(
        Point(label, ("--decomposition", how), ways, planes=8)
        for label, how in (("spread over all", "slabs"), ("all on one rank", "one-owner"))
    )
    finding = (
        "A transverse cut of 1 MB per step, all on one rank: slower, moving the data costs more than "
        "writing it."
    )
    return Experiment("cut", "Transverse cut: all data on one rank", finding, points)


def cuboids() -> Experiment:
    points = tuple(Point(str(count), ("--select", f"boxes:{count}")) for count in (1, 4, 32, 256))
    finding = (
        "The same 8 MB per step as 1, 4, 32 and 256 cuboids: blocking is about 3 times slower with 256 "
        "datasets than with one; the overlapped version suffers more."
    )
    return Experiment("cuboids", "Number of cuboids at equal volume", finding, points)


def groups(ranks: int) -> Experiment:
    numbers = [group for group in (1, 2, 4, 8) if group <= ranks]
    ways = (BLOCKING, *(f"leaders:{group}" for group in numbers))
    points = tuple(Point(bytes_text(planes * PLANE_BYTES), (), ways, planes=planes) for planes in (2, 32))
    finding = (
        "Group sizes have little effect within a node and with enough data; larger groups for small data."
    )
    return Experiment("groups", "Ranks per writer", finding, points)


def buffers() -> Experiment:
    ways = (BLOCKING, "threads:2", "threads:3", "threads:4")
    finding = (
        "Two buffers suffice: with more computing than writing one is always free, with less more of them "
        "only delay the wait."
    )
    points = tuple(
        Point(bytes_text(planes * PLANE_BYTES), (), ways, planes=planes) for planes in (8, 32, 128)
    )
    return Experiment("buffers", "Buffers per rank", finding, points)


def loads(ranks: int) -> Experiment:
    names = ("matmul", "memory", "broadcast") if ranks > 1 else ("matmul", "memory")
    finding = (
        "Cache misses do not differ between blocking and overlapped (L1 2.49 and 2.49 %, L2 50.3 and 50.7 "
        "%, L3 32.6 and 31.8 %): no penalty."
    )
    return Experiment(
        "loads", "What is computed meanwhile", finding, tuple(Point(n, (), load=n) for n in names)
    )


def writer_core() -> Experiment:
    points = tuple(
        Point(label, (), ranks=1, cores=cores) for label, cores in (("same core", 1), ("a free core", 2))
    )
    finding = (
        "A writer on the core of its rank: up to 12 % slower. Writers on all ranks without free cores: "
        "tens of percent slower in k-Wave, because waits of HDF5 and MPI hold the core."
    )
    return Experiment("cores", "Writer on the same or on a free core (one rank)", finding, points)
