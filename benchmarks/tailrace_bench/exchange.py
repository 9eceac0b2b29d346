# SPDX-License-Identifier: BSD-3-Clause
"""Exchanges at arbitrary indices: every transport, `auto`, and messages written by hand, round by round."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from tailrace.bench.document import make_document, say
from tailrace.bench.host import Watch
from tailrace.bench.programs import Runner, native_program, on_ranks
from tailrace.bench.stats import ratios, spread

LOADS = ("ua-A", "ua-C", "random", "stencil", "power-law", "banded", "one-word")
QUICK_LOADS = ("ua-A", "random", "one-word")
BY_HAND = "gather by hand"


@dataclass(frozen=True)
class Request:
    """What to measure: index vectors, numbers per value, and rounds in which everything takes its turn."""

    loads: tuple[str, ...]
    components: tuple[int, ...]
    ranks: int
    rounds: int


def measure(request: Request) -> dict[str, Any]:
    """The whole benchmark as a document."""
    program, runner, watch = native_program("tailrace-bench-exchange"), Runner(), Watch()
    rows, library = [], ""
    for load in request.loads:
        for components in request.components:
            say(f"{load}, {components} number{'s' * (components > 1)} per value: {request.rounds} rounds")
            words = ["--loads", load, "--components", str(components), "--rounds", str(request.rounds)]
            found = json.loads(runner.run(on_ranks(program, request.ranks, 1, words)).output)
            library = found["mpi"]
            rows += [make_row(row) for row in found["rows"]]
    document = make_document("exchange", asdict(request), watch, runner.commands)
    return document | {"mpi": library, "rows": rows}


def make_row(row: dict[str, Any]) -> dict[str, Any]:
    """Medians of what the program has sampled, and gathers relative to messages written by hand in the same
    round.
    """
    samples = row["samples_s"]
    times = {name: spread(values).as_dict() for name, values in samples.items()}
    by_hand = samples[BY_HAND]
    gathers = [name for name in samples if name.startswith("gather ") and name != BY_HAND]
    return {name: value for name, value in row.items() if name != "samples_s"} | {
        "time_s": times,
        "against_hand": {name.split()[1]: ratios(samples[name], by_hand).as_dict() for name in gathers},
        "best": min(
            (name.split()[1] for name in gathers if name != "gather auto"),
            key=lambda name: times[f"gather {name}"]["median"],
        ),
    }
