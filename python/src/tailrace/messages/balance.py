# SPDX-License-Identifier: BSD-3-Clause
"""Who sent how much to whom, and whether it was received."""

from collections import defaultdict

import numpy as np

from tailrace.messages.counts import FOREIGN, MAX_NAMED, Profile, Total
from tailrace.units import bytes_text


def pairs(profile: Profile, group: str) -> dict[tuple[int, int], Total]:
    """Of each rank and peer in MPI_COMM_WORLD."""
    found: dict[tuple[int, int], Total] = defaultdict(Total)
    for process in profile.ranks:
        for (of, peer), total in process.peers.items():
            if of == group and peer != FOREIGN:
                found[process.rank, peer].add(total.messages, total.bytes)
    return found


def differences(profile: Profile) -> list[str]:
    """A sentence for each pair of ranks of which one sent what the other did not receive; only pairs of which
    both have counted everything.
    """
    known = {process.rank for process in profile.ranks if not process.left_out.messages}
    sent = pairs(profile, "sent")
    received = {(peer, rank): total for (rank, peer), total in pairs(profile, "received").items()}
    unequal = [
        pair
        for pair in sorted(sent.keys() | received.keys())
        if set(pair) <= known and sent.get(pair, Total()) != received.get(pair, Total())
    ]
    found = [sentence(pair, sent.get(pair, Total()), received.get(pair, Total())) for pair in unequal]
    if len(found) > MAX_NAMED:
        found = [*found[:MAX_NAMED], f"... and {len(found) - MAX_NAMED} further pairs of ranks"]
    unseen = sum(process.unseen for process in profile.ranks)
    if unequal and unseen:
        found.append(f"{unseen} receives were cancelled, freed or failed: what they got is not known")
    return found


def sentence(pair: tuple[int, int], sent: Total, received: Total) -> str:
    return (
        f"rank {pair[0]} sent {sent.messages} messages ({bytes_text(sent.bytes)}) to rank {pair[1]}, "
        f"which received {received.messages} ({bytes_text(received.bytes)})"
    )


def matrix(profile: Profile, cells: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Messages and bytes from rank (row) to rank (column), sent and one-sided, in at most so many cells along
    a side; and the number of ranks that a cell holds.
    """
    ranks = max((process.ranks for process in profile.ranks), default=0)
    together = max(1, -(-ranks // cells))
    side = -(-ranks // together)
    counted = np.zeros((2, side, side))
    for group in ("sent", "one_sided"):
        for (rank, peer), total in pairs(profile, group).items():
            counted[:, rank // together, peer // together] += (total.messages, total.bytes)
    return counted[0], counted[1], together


def over_time(profile: Profile, group: str) -> tuple[float, np.ndarray]:
    """Seconds of a bin, and messages and bytes of all ranks in each; bins of different widths, which grow by
    factors of two, become as wide as the widest.
    """
    width = max((process.bin_s for process in profile.processes), default=1.0)
    length = max((_bins_of(process, width) for process in profile.processes), default=0)
    whole = np.zeros((length, 2))
    for process in profile.processes:
        factor = round(width / process.bin_s)
        for number, counted in enumerate(process.bins[group]):
            whole[number // factor] += counted
    return width, whole


def _bins_of(process, width: float) -> int:
    return max(-(-len(bins) // round(width / process.bin_s)) for bins in process.bins.values())


def summary(profile: Profile) -> dict:
    """Totals for run.json and for --json."""
    groups: dict[str, Total] = defaultdict(Total)
    for (group, _), total in profile.totals().items():
        groups[group].add(total.messages, total.bytes)
    unequal = differences(profile)
    return {
        "ranks": len(profile.ranks),
        "groups": {group: total.as_dict() for group, total in sorted(groups.items())},
        "kinds": [
            {"group": group, "kind": kind, **total.as_dict()}
            for (group, kind), total in sorted(profile.totals().items())
        ],
        "sent_equals_received": not unequal,
        "differences": unequal,
        "problems": profile.problems,
    }
