# SPDX-License-Identifier: BSD-3-Clause
"""Messages between two ranks through every adapter of the native part, and what each costs over blocking
MPI.
"""

import json
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from rich.console import Console

from tailrace.bench.document import make_document, make_table, say, with_interval
from tailrace.bench.host import Watch, watch_text
from tailrace.bench.programs import Runner, native_program, on_ranks
from tailrace.bench.stats import Spread, from_dict, ratios, spread
from tailrace.programs import launch_info
from tailrace.units import bytes_text, significant
from tailrace_bench.network_fit import fit
from tailrace_bench.network_peers import NETPIPE_NAME, check_peers, netpipe, peer

PROGRAM = "tailrace-bench-network"
RANKS = 2
BASE = "mpi-blocking"
PING_PONG, STREAMING = "ping-pong", "streaming"
PING_PING, BOTH_WAYS = "ping-ping", "both-ways"
TESTS = (PING_PONG, STREAMING, PING_PING, BOTH_WAYS)
# What others are compared with; where both sides send before they receive, blocking sends cannot.
BASES = {PING_PONG: BASE, STREAMING: BASE, PING_PING: "mpi-nonblocking", BOTH_WAYS: "mpi-nonblocking"}
# Messages one after another in a repetition: of both ways, one of each direction at a time.
_PER_REPETITION = {PING_PONG: 2, STREAMING: 1, PING_PING: 1, BOTH_WAYS: 2}
# A distribution with a longer tail says nothing of what the layer costs.
UNSTEADY = 10.0


@dataclass(frozen=True)
class Request:
    """What to measure. `messages`: at most so many in a window; large ones are fewer."""

    sizes: tuple[int, ...]
    windows: int
    messages: int
    peers: tuple[str, ...] = ()


def measure(request: Request) -> dict[str, Any]:
    check_peers(request.peers)
    watch, runner = Watch(), Runner()
    words = ["--windows", str(request.windows), "--messages", str(request.messages)]
    words += ["--sizes", *map(str, request.sizes)]
    say(f"{request.windows} windows of {len(request.sizes)} sizes")
    finished = runner.run(on_ranks(native_program(PROGRAM), RANKS, 1, words))
    rows = make_rows(json.loads(finished.output)["rows"])
    document = make_document("network", asdict(request), watch, runner.commands)
    return document | {
        "rows": rows,
        "rates": rates(rows),
        "loggp": loggp(rows),
        "peers": peer_rows(request, runner, rows),
    }


def loggp(rows: list[dict[str, Any]]) -> dict[str, Any]:
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


def peer_rows(request: Request, runner: Runner, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Ping-pong of other programs beside ours of blocking MPI, at the sizes that both have."""
    ours = {
        row["size"]: row["message_s"]["median"]
        for row in rows
        if (row["test"], row["adapter"]) == (PING_PONG, BASE)
    }
    found = []
    for text in request.peers:
        if text == NETPIPE_NAME:
            mpi = launch_info(native_program(PROGRAM)).implementation
            name, times = text, netpipe(runner, mpi, list(ours), request.messages * 10)
        else:
            name, times = peer(runner, text)
        found += [
            {
                "peer": name,
                "size": size,
                "peer_s": times[size],
                "ours_s": ours[size],
                "ratio": ours[size] / times[size],
            }
            for size in ours
            if size in times
        ]
    return found


def make_rows(measured: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Seconds of a message: half of a round trip, or a window divided by its messages."""
    per_message = {
        (one["test"], one["size"], one["adapter"]): [
            s / (one["messages"] * _PER_REPETITION[one["test"]]) for s in one["seconds"]
        ]
        for one in measured
    }
    return [
        make_row(test, size, adapter, samples, per_message[test, size, BASES[test]])
        for (test, size, adapter), samples in per_message.items()
    ]


def make_row(test: str, size: int, adapter: str, samples: list[float], base: list[float]) -> dict[str, Any]:
    """A row of the document. The overhead over the base is of the same windows, as ratio and as
    difference.
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
        "over_base": ratios(samples, base).as_dict(),
        "overhead_s": spread([a - b for a, b in zip(samples, base, strict=True)]).as_dict(),
        "steady": p99 <= UNSTEADY * found.median,
    }


def percentile(samples: list[float], share: float) -> float:
    """The smallest sample that at least this share of all is not larger than."""
    ordered = sorted(samples)
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]


def rates(rows: list[dict[str, Any]]) -> list[list[float]]:
    """Messages per second of each size, for shares of time in tables of messages."""
    return [
        [row["size"], row["messages_s"]] for row in rows if (row["test"], row["adapter"]) == (STREAMING, BASE)
    ]


def microseconds(value: float) -> str:
    return significant(1e6 * value)


def ratio_text(row: dict[str, Any]) -> str:
    """No verdict where the times have a long tail."""
    if row["adapter"] == BASES[row["test"]]:
        return ""
    found: Spread = from_dict(row["over_base"])
    return with_interval(found, digits=2) if row["steady"] else "unsteady: p99 > 10 medians"


def print_document(document: dict[str, Any], console: Console) -> None:
    for test in TESTS:
        table = make_table(
            f"{test}, µs per message",
            "size",
            "adapter",
            "min",
            "median",
            "p99",
            "mean",
            "per s",
            f"over {BASES[test]}",
        )
        table.columns[1].justify = "left"
        for row in document["rows"]:
            if row["test"] == test:
                times = (row["min_s"], row["message_s"]["median"], row["p99_s"], row["mean_s"])
                size = bytes_text(row["size"])
                volume = f"{bytes_text(row['bytes_s'])}/s" if row["size"] else ""
                table.add_row(size, row["adapter"], *map(microseconds, times), volume, ratio_text(row))
        console.print(table)
        console.print()
    print_loggp(document["loggp"], console)
    print_peers(document["peers"], console)
    console.print(watch_text(document["conditions"]))


def print_loggp(found: dict[str, Any], console: Console) -> None:
    table = make_table("LogGP: t(s) = L + G s", "adapter", "gap, µs", "bytes from", "to", "L, µs", "1/G")
    for adapter, one in found.items():
        for number, part in enumerate(one["ranges"]):
            rate = f"{bytes_text(part['bytes_s'])}/s" if part["bytes_s"] else "-"
            first = (adapter, microseconds(one["gap_s"])) if number == 0 and one["gap_s"] else ("", "")
            table.add_row(
                *first, str(part["first"]), str(part["last"]), microseconds(part["latency_s"]), rate
            )
    console.print(table)
    console.print()


def print_peers(rows: list[dict[str, Any]], console: Console) -> None:
    if not rows:
        return
    table = make_table("ping-pong beside others, µs", "peer", "size", "peer", f"our {BASE}", "ours over peer")
    for row in rows:
        times = (microseconds(row["peer_s"]), microseconds(row["ours_s"]))
        table.add_row(row["peer"], bytes_text(row["size"]), *times, f"{row['ratio']:.2f}")
    console.print(table)
    console.print()
