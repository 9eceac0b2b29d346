# SPDX-License-Identifier: BSD-3-Clause
"""Exchanges at arbitrary indices: every transport, `auto`, and messages written by hand, round by round."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from tailrace.bench.document import make_document, say
from tailrace.bench.host import Watch
from tailrace.bench.programs import Runner, native_program, on_ranks
from tailrace.bench.stats import ratios, spread

# Remote values per mortar point of class C after 100 steps, owned by a rank that touches, as a program
# independent of this one counted them.
ELSEWHERE = {8: 0.090, 64: 0.219, 128: 0.281, 256: 0.352, 512: 0.448, 1024: 0.586, 2048: 0.751}
COUNTED_RANKS = (8, 64, 512)
LOADS = ("ua-A", "ua-C", "random", "stencil", "power-law", "banded", "one-word")
BY_HAND = "by hand isend"


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


def count(ranks: tuple[int, ...]) -> dict[str, Any]:
    """What rules of ownership cost on the mesh of UA's class C, counted by one process for all ranks."""
    program, runner, watch = native_program("tailrace-bench-exchange"), Runner(), Watch()
    words = ["--counts", "C", "--ranks", *(str(number) for number in ranks)]
    found = json.loads(runner.run(on_ranks(program, 1, 1, words)).output)
    for row in found["rows"]:
        among_touching = row["rule"] in ("lowest_rank", "balanced")
        row["counted_elsewhere"] = ELSEWHERE.get(row["ranks"]) if among_touching else None
    document = make_document("exchange-counts", {"class": "C", "ranks": list(ranks)}, watch, runner.commands)
    return document | found


def make_row(row: dict[str, Any]) -> dict[str, Any]:
    """Medians of what the program has sampled, and gathers relative to messages written by hand in the same
    round.
    """
    samples = row["samples_s"]
    times = {name: spread(values).as_dict() for name, values in samples.items()}
    by_hand = samples[BY_HAND]
    gathers = [name for name in samples if name.startswith("gather ")]
    hands = [name for name in samples if name.startswith("by hand ") and name != BY_HAND]
    return {name: value for name, value in row.items() if name != "samples_s"} | {
        "time_s": times,
        "against_hand": {name.split()[1]: ratios(samples[name], by_hand).as_dict() for name in gathers},
        "other_hands": {name.split()[2]: ratios(samples[name], by_hand).as_dict() for name in hands},
        "best": min(
            (name.split()[1] for name in gathers if name != "gather auto"),
            key=lambda name: times[f"gather {name}"]["median"],
        ),
    }
