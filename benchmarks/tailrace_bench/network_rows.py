# SPDX-License-Identifier: BSD-3-Clause
"""From seconds of windows to the numbers of the network benchmark."""

from collections import defaultdict
from math import exp, log
from statistics import fmean, median
from typing import Any

from tailrace.bench.stats import ratios, spread
from tailrace_bench.network_fit import fit

BASE = "mpi-blocking"
PING_PONG, STREAMING = "ping-pong", "streaming"
PING_PING, BOTH_WAYS = "ping-ping", "both-ways"
PAIR_TESTS = (PING_PONG, STREAMING, PING_PING, BOTH_WAYS)
PAIRS, ANY_SOURCE = "pairs", "any-source"
COLLECTIVES = ("barrier", "all-reduce", "broadcast")
NONBLOCKING = "mpi-nonblocking"
# Not an adapter: the loop that somebody writes who has no endpoint.
BY_HAND = "by-hand"
# What others are compared with; where both sides send before they receive, blocking sends cannot.
BASES = {
    PING_PONG: BASE,
    STREAMING: BASE,
    PING_PING: NONBLOCKING,
    BOTH_WAYS: NONBLOCKING,
    PAIRS: BASE,
    ANY_SOURCE: "mpi-named-source",
} | dict.fromkeys(COLLECTIVES, "mpi")
# Messages one after another in a repetition: of both ways, one of each direction at a time.
_PER_REPETITION = {PING_PONG: 2, BOTH_WAYS: 2}
# A distribution with a longer tail says nothing of what the layer costs.
UNSTEADY = 10.0
Row = dict[str, Any]


def base_of(test: str) -> str:
    """The adapter that others are compared with: in rings both sides send first."""
    return BASES.get(test, NONBLOCKING)


def make_rows(measured: list[Row]) -> list[Row]:
    """Seconds of a message: half of a round trip, or a window divided by its messages."""
    per_message = {
        (one["test"], one["size"], one["adapter"]): [
            s / (one["messages"] * _PER_REPETITION.get(one["test"], 1)) for s in one["seconds"]
        ]
        for one in measured
    }
    return [
        make_row(test, size, adapter, samples, per_message.get((test, size, base_of(test))))
        for (test, size, adapter), samples in per_message.items()
    ]


def make_row(test: str, size: int, adapter: str, samples: list[float], base: list[float] | None) -> Row:
    """A row of the document. The overhead over the base is of the same windows, as ratio and as difference;
    null where the base was left out.
    """
    found, p99 = spread(samples), percentile(samples, 0.99)
    rate = 1.0 / found.median
    return {
        "test": test,
        "size": size,
        "adapter": adapter,
        "message_s": found.as_dict(),
        "min_s": min(samples),
        "p99_s": p99,
        "mean_s": fmean(samples),
        "messages_s": rate,
        "bytes_s": size * rate,
        "over_base": base and ratios(samples, base).as_dict(),
        "overhead_s": base and spread([a - b for a, b in zip(samples, base, strict=True)]).as_dict(),
        "steady": p99 <= UNSTEADY * found.median,
    }


def by_hand_rows(measured: list[Row]) -> list[Row]:
    """The endpoint beside the loop written by hand, of the same windows."""
    samples = {(row["size"], row["adapter"]): row["message_s"]["samples"] for row in make_rows(measured)}
    return [
        {
            "size": size,
            "endpoint_s": spread(endpoint).as_dict(),
            "by_hand_s": spread(samples[size, BY_HAND]).as_dict(),
            "ratio": ratios(endpoint, samples[size, BY_HAND]).as_dict(),
        }
        for (size, adapter), endpoint in samples.items()
        if adapter == BASE
    ]


def percentile(samples: list[float], share: float) -> float:
    """The smallest sample that at least this share of all is not larger than."""
    ordered = sorted(samples)
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]


def rates(rows: list[Row]) -> list[list[float]]:
    """Messages per second of each size, for shares of time in tables of messages."""
    return [
        [row["size"], row["messages_s"]] for row in rows if (row["test"], row["adapter"]) == (STREAMING, BASE)
    ]


def loggp(rows: list[Row]) -> dict[str, Any]:
    """Of each adapter, from ping-pong and streaming: ranges with latency and time per byte, and the gap
    between small messages.
    """
    found = {}
    for adapter in dict.fromkeys(row["adapter"] for row in rows):
        of = {
            test: [row for row in rows if (row["test"], row["adapter"]) == (test, adapter)]
            for test in (PING_PONG, STREAMING)
        }
        sizes = [row["size"] for row in of[PING_PONG]]
        ranges = fit(sizes, [row["message_s"]["median"] for row in of[PING_PONG]])
        gap = min((row["message_s"]["median"] for row in of[STREAMING]), default=None)
        found[adapter] = {"gap_s": gap, "ranges": [one.as_dict() for one in ranges]}
    return found


def overlap_row(measured: Row) -> Row:
    """The share of a transfer that its sender's work hides: of transfer and work one after the other, what is
    saved when both are under way, over the shorter of the two; 0 to 1.
    """
    rounds = zip(measured["alone_s"], measured["work_s"], measured["together_s"], strict=True)
    hidden = [max(0.0, min(1.0, (alone + work - both) / min(alone, work))) for alone, work, both in rounds]
    return {
        "adapter": measured["adapter"],
        "size": measured["size"],
        "transfer_s": median(measured["alone_s"]),
        "work_s": median(measured["work_s"]),
        "hidden": spread(hidden).as_dict(),
    }


def protocol_of(measured: list[Row]) -> dict[str, Any]:
    """The largest message that leaves without its receiver, and of puts whether they are complete while the
    target computes: in less than half of the time of its computation.
    """
    found: dict[str, Any] = {"puts": []}
    for row in measured:
        if row["test"] == "eager-limit":
            limited = row["bytes"] < row["largest"]
            found |= {"eager_bytes": row["bytes"], "eager_is_limited": limited}
        else:
            computing = median(row["target_computes_s"])
            found["puts"].append(
                {
                    "size": row["size"],
                    "target_waits_s": median(row["target_waits_s"]),
                    "target_computes_s": computing,
                    "computing_s": row["computing_s"],
                    "progresses": computing < row["computing_s"] / 2,
                }
            )
    return found


def group_rows(measured: list[Row]) -> list[Row]:
    """Many pairs, any source and rings: seconds per message of a rank, of the slowest rank."""
    return make_rows([row for row in measured if row["test"] not in COLLECTIVES])


def is_pattern(test: str) -> bool:
    return test.startswith(("ring of", "polygon of"))


def effective_bandwidth(measured: list[Row]) -> dict[str, float]:
    """Bytes per second and rank of each adapter, as one number: the mean over sizes, then the geometric mean
    over rings, over polygons, and of the two (Rabenseifner and Koniges 2001, with other sizes).
    """
    speeds: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in measured:
        if is_pattern(row["test"]):
            speed = row["size"] * row["messages"] / median(row["seconds"])
            speeds[row["adapter"]][row["test"]].append(speed)
    return {adapter: one_number(patterns) for adapter, patterns in speeds.items()}


def one_number(patterns: dict[str, list[float]]) -> float:
    kinds: dict[str, list[float]] = defaultdict(list)
    for name, speeds in patterns.items():
        kinds[name.split()[0]].append(fmean(speeds))
    return geometric_mean([geometric_mean(means) for means in kinds.values()])


def geometric_mean(values: list[float]) -> float:
    return exp(fmean(map(log, values)))


def collective_rows(measured: list[Row]) -> list[Row]:
    """Seconds of an operation by the number of ranks."""
    found = [row for row in measured if row["test"] in COLLECTIVES]
    numbers = dict.fromkeys(row["ranks"] for row in found)
    return [
        row | {"ranks": ranks}
        for ranks in numbers
        for row in make_rows([one for one in found if one["ranks"] == ranks])
    ]


def matrix_rows(measured: list[Row]) -> list[Row]:
    """Half a round trip of each two ranks."""
    return [
        {
            "a": row["a"],
            "b": row["b"],
            "shared": row["shared"],
            "size": row["size"],
            "message_s": spread([s / (2 * row["messages"]) for s in row["seconds"]]).as_dict(),
        }
        for row in measured
    ]


def level_rows(measured: list[Row]) -> list[Row]:
    """Ping-pong of blocking MPI at each level of thread support, over the first."""
    samples = {
        row["level"]: [s / (2 * row["messages"]) for s in row["seconds"]]
        for row in measured
        if (row["test"], row["adapter"]) == (PING_PONG, BASE)
    }
    base = next(iter(samples.values()), [])
    return [
        {
            "level": level,
            "message_s": spread(seconds).as_dict(),
            "over_first": ratios(seconds, base).as_dict(),
        }
        for level, seconds in samples.items()
    ]
