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
from tailrace.units import bytes_text, significant

PROGRAM = "tailrace-bench-network"
RANKS = 2
BASE = "mpi-blocking"
PING_PONG, STREAMING = "ping-pong", "streaming"
# A distribution with a longer tail says nothing of what the layer costs.
UNSTEADY = 10.0


@dataclass(frozen=True)
class Request:
    """What to measure. `messages`: at most so many in a window; large ones are fewer."""

    sizes: tuple[int, ...]
    windows: int
    messages: int


def measure(request: Request) -> dict[str, Any]:
    watch, runner = Watch(), Runner()
    words = ["--windows", str(request.windows), "--messages", str(request.messages)]
    words += ["--sizes", *map(str, request.sizes)]
    say(f"{request.windows} windows of {len(request.sizes)} sizes")
    finished = runner.run(on_ranks(native_program(PROGRAM), RANKS, 1, words))
    rows = make_rows(json.loads(finished.output)["rows"])
    document = make_document("network", asdict(request), watch, runner.commands)
    return document | {"rows": rows, "rates": rates(rows)}


def make_rows(measured: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Seconds of a message: half of a round trip, or a window divided by its messages."""
    per_message = {
        (one["test"], one["size"], one["adapter"]): [
            s / (one["messages"] * (2 if one["test"] == PING_PONG else 1)) for s in one["seconds"]
        ]
        for one in measured
    }
    return [
        make_row(test, size, adapter, samples, per_message[test, size, BASE])
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
    if row["adapter"] == BASE:
        return ""
    found: Spread = from_dict(row["over_base"])
    return with_interval(found, digits=2) if row["steady"] else "unsteady: p99 > 10 medians"


def print_document(document: dict[str, Any], console: Console) -> None:
    for test in (PING_PONG, STREAMING):
        table = make_table(
            f"{test}, µs per message",
            "size",
            "adapter",
            "min",
            "median",
            "p99",
            "mean",
            "per s",
            f"over {BASE}",
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
    console.print(watch_text(document["conditions"]))
