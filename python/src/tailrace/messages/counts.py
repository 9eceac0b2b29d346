# SPDX-License-Identifier: BSD-3-Clause
"""Reads what the message profiler wrote: a file per process."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

GROUPS = ("sent", "received", "one_sided", "collective")
GROUP_LABELS = {
    "sent": "point-to-point, sent",
    "received": "point-to-point, received",
    "one_sided": "one-sided",
    "collective": "collective calls",
}
MAX_NAMED = 8
FOREIGN = -2  # the number of a peer that is not in MPI_COMM_WORLD
MOST = 1 << 63  # no counter of the profiler has more bits
MIN_BIN_S = 1e-3


class DamagedCountsError(ValueError):
    """A file is not what the profiler writes."""


@dataclass
class Total:
    """Messages and their bytes."""

    messages: int = 0
    bytes: int = 0

    def add(self, messages: int, size: int) -> None:
        self.messages += messages
        self.bytes += size

    def as_dict(self) -> dict[str, int]:
        return {"messages": self.messages, "bytes": self.bytes}


@dataclass
class Sizes:
    """How many messages there are of each size; `coarse` has those beyond the sizes that are counted exactly,
    in classes: lowest and highest size, messages, bytes.
    """

    exact: Counter[int] = field(default_factory=Counter)
    coarse: list[tuple[int, int, int, int]] = field(default_factory=list)

    def add(self, other: "Sizes") -> None:
        self.exact.update(other.exact)
        self.coarse += other.coarse

    @property
    def total(self) -> Total:
        messages = self.exact.total() + sum(count for _, _, count, _ in self.coarse)
        size = sum(size * count for size, count in self.exact.items())
        return Total(messages, size + sum(bytes_ for *_, bytes_ in self.coarse))


@dataclass
class Process:
    """What one process counted. `kinds` by group and kind, `peers` by group and peer, `bins` by group:
    messages and bytes of each interval of `bin_s`.
    """

    name: str
    rank: int
    ranks: int
    host: str
    mpi: str
    complete: bool
    elapsed_s: float
    kinds: dict[tuple[str, str], Sizes]
    peers: dict[tuple[str, int], Total]
    left_out: Total
    unseen: int
    bin_s: float
    bins: dict[str, list[tuple[int, int]]]


@dataclass
class Profile:
    """All processes of a program: its ranks, and processes that those have started; what is wrong with it."""

    ranks: list[Process] = field(default_factory=list)
    started: list[Process] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def processes(self) -> list[Process]:
        return [*self.ranks, *self.started]

    def sizes(self, *groups: str) -> Sizes:
        """Of all processes and all kinds of the groups."""
        whole = Sizes()
        for process in self.processes:
            for (group, _), sizes in process.kinds.items():
                if group in groups:
                    whole.add(sizes)
        return whole

    def totals(self) -> dict[tuple[str, str], Total]:
        """By group and kind, over all processes."""
        found: dict[tuple[str, str], Total] = defaultdict(Total)
        for process in self.processes:
            for key, sizes in process.kinds.items():
                found[key].add(*vars(sizes.total).values())
        return dict(found)


def read_profile(directory: Path) -> Profile:
    """All files of a directory; one that is damaged, or missing, becomes a problem that names it."""
    profile = Profile()
    for path in sorted(directory.glob("*.json")):
        if not path.name.startswith(("rank-", "started-")):
            continue
        try:
            process = read_process(path)
        except (OSError, DamagedCountsError) as error:
            profile.problems.append(f"{path}: {error}")
            continue
        (profile.ranks if path.name.startswith("rank-") else profile.started).append(process)
    profile.problems += missing(directory, profile.ranks) + list(notes(profile.processes))
    return profile


def missing(directory: Path, ranks: list[Process]) -> list[str]:
    """What is said of ranks that left nothing: they were killed, or their file was lost."""
    expected = max((process.ranks for process in ranks), default=0)
    present = {process.rank for process in ranks}
    absent = list(islice((rank for rank in range(expected) if rank not in present), MAX_NAMED + 1))
    shown = ", ".join(map(str, absent[:MAX_NAMED])) + (", ..." if len(absent) > MAX_NAMED else "")
    return [f"{directory}: no counts of rank {shown}: killed before it ended?"] if absent else []


def notes(processes: Iterable[Process]) -> Iterable[str]:
    for process in processes:
        if not process.complete:
            yield f"{process.name} ended without MPI_Finalize: what it counted until then"
        if process.left_out.messages:
            yield f"{process.name} has too many peers: {process.left_out.messages} messages are in no matrix"


def read_process(path: Path) -> Process:
    """Raises DamagedCountsError for a file that the profiler did not write so."""
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        if table["format"] != "tailrace-messages" or table["format_version"] != 1:
            raise DamagedCountsError("of another format or version; this program reads tailrace-messages 1")
        return process_of(path.stem, table)
    except DamagedCountsError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise DamagedCountsError(f"damaged: {type(error).__name__}: {error}") from None


def process_of(name: str, table: dict[str, Any]) -> Process:
    rank, ranks = whole(table["rank"]), whole(table["ranks"])
    if rank >= ranks:
        raise DamagedCountsError(f"rank {rank} of {ranks} ranks")
    peers: dict[tuple[str, int], Total] = defaultdict(Total)
    for group, _, peer, messages, size in table["peers"]:
        peers[str(group), peer_of(peer, ranks)].add(whole(messages), whole(size))
    bins = {group: [(whole(n), whole(size)) for n, size in table["time"][group]] for group in GROUPS}
    return Process(
        name=name,
        rank=rank,
        ranks=ranks,
        host=str(table["host"]),
        mpi=str(table["mpi"]),
        complete=table["complete"] is True,
        elapsed_s=seconds(table["elapsed_s"]),
        kinds={(str(one["group"]), str(one["kind"])): sizes_of(one) for one in table["kinds"]},
        peers=dict(peers),
        left_out=Total(*map(whole, table["peers_left_out"])),
        unseen=whole(table["unseen_receives"]),
        bin_s=width(table["time"]["bin_s"]),
        bins=bins,
    )


def sizes_of(table: dict[str, Any]) -> Sizes:
    exact = Counter({whole(size): whole(count) for size, count in table["sizes"]})
    sizes = Sizes(exact, [tuple(map(whole, one)) for one in table["classes"]])
    total = Total(whole(table["messages"]), whole(table["bytes"]))
    sound = all(len(one) == 4 and one[2] > 0 for one in sizes.coarse) and total.messages > 0
    if not sound or sizes.total != total:
        raise DamagedCountsError(f"{table['kind']}: the sizes do not add up to its {total.messages} messages")
    return sizes


def whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < MOST:
        raise DamagedCountsError(f"{shortened(value)} is no number of messages, bytes or ranks")
    return value


def peer_of(value: Any, ranks: int) -> int:
    if value != FOREIGN and whole(value) >= ranks:
        raise DamagedCountsError(f"peer {value} of {ranks} ranks")
    return value


def seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < MOST:
        raise DamagedCountsError(f"{shortened(value)} are no seconds")
    return float(value)


def width(value: Any) -> float:
    """Of intervals, which begin at 10 ms."""
    if seconds(value) < MIN_BIN_S:
        raise DamagedCountsError(f"intervals of {value} s")
    return float(value)


def shortened(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer with thousands of digits
        return "a huge number"
    return text if len(text) <= 40 else text[:40] + "..."
