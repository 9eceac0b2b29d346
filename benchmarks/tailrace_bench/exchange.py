# SPDX-License-Identifier: BSD-3-Clause
"""Exchanges at arbitrary indices: every transport, `auto`, and messages written by hand, round by round."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from tailrace.bench.document import make_document, say
from tailrace.bench.host import Watch
from tailrace.bench.programs import Runner, native_program, on_ranks
from tailrace.bench.stats import Spread, ratios, spread

# Remote values per mortar point of class C after 100 steps, owned by a rank that touches, as a program
# independent of this one counted them.
ELSEWHERE = {8: 0.090, 64: 0.219, 128: 0.281, 256: 0.352, 512: 0.448, 1024: 0.586, 2048: 0.751}
COUNTED_RANKS = (8, 64, 512)
# By all ranks of a program: loads that grow with the ranks, and those that are inspected too.
REAL = (
    *(("slab", ranks) for ranks in (16, 32, 64)),
    ("ua-B", 16),
    *(("ua-C", ranks) for ranks in (2, 8, 64)),
)
LOADS = ("ua-A", "ua-C", "random", "stencil", "power-law", "banded", "one-word")
BY_HAND = "by hand isend"
LIBRARY = "by library "
FLIGHTS_OF_A_MAP = 22  # one fifth of what heat has between two adaptations, rounded


@dataclass(frozen=True)
class Request:
    """What to measure: index vectors, numbers per value, and rounds in which everything takes its turn."""

    loads: tuple[str, ...]
    components: tuple[int, ...]
    ranks: int
    rounds: int
    puts: int = 1_000_000  # single values per rank, to symmetric memory; 0: none


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
    puts = measure_puts(request, program, runner) if request.puts and request.ranks > 1 else {}
    document = make_document("exchange", asdict(request), watch, runner.commands)
    return document | {"mpi": library, "rows": rows, "puts": puts, "aims": aims_of(rows, puts)}


def measure_puts(request: Request, program: str, runner: Runner) -> dict[str, Any]:
    """Seconds for a value of 8 bytes, each way to put it."""
    say(f"{request.puts} single values per rank into symmetric memory")
    words = ["--puts", str(request.puts), "--rounds", str(request.rounds)]
    found = json.loads(runner.run(on_ranks(program, request.ranks, 1, words)).output)
    return {name: spread(values).as_dict() for name, values in found["seconds_per_put"].items()}


def count(ranks: tuple[int, ...], real: tuple[tuple[str, int], ...] = REAL) -> dict[str, Any]:
    """What rules of ownership cost on the mesh of UA's class C, counted by one process for all ranks;
    and maps, by as many ranks as they are for.
    """
    program, runner, watch = native_program("tailrace-bench-exchange"), Runner(), Watch()
    words = ["--counts", "C", "--ranks", *(str(number) for number in ranks)]
    found = json.loads(runner.run(on_ranks(program, 1, 1, words)).output)
    for row in found["rows"]:
        among_touching = row["rule"] in ("lowest_rank", "balanced")
        row["counted_elsewhere"] = ELSEWHERE.get(row["ranks"]) if among_touching else None
    found["real"] = [
        json.loads(runner.run(on_ranks(program, number, 1, ["--real", load])).output) for load, number in real
    ]
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
        "libraries_against_auto": over_auto(samples),
        "ratios": {name: found.as_dict() for name, found in ratios_of(samples).items()},
        "best": min(
            (name.split()[1] for name in gathers if name != "gather auto"),
            key=lambda name: times[f"gather {name}"]["median"],
        ),
    }


def over_auto(samples: dict[str, list[float]]) -> dict[str, Any]:
    """Gather and scatter-add of each library together over those of `auto`, round by round."""
    auto = both(samples, "gather auto", "scatter_add auto")
    found = {}
    for name in samples:
        adding = f"scatter_add {name}"
        if name.startswith(LIBRARY) and adding in samples:
            found[name.removeprefix(LIBRARY)] = ratios(both(samples, name, adding), auto).as_dict()
    return found


def both(samples: dict[str, list[float]], first: str, second: str) -> list[float]:
    return [a + b for a, b in zip(samples[first], samples[second], strict=True)]


def ratios_of(samples: dict[str, list[float]]) -> dict[str, Spread]:
    """What the aims are about; without those whose samples are not there."""
    pairs = {
        "get over put": ("gather get", "gather rma-lock"),
        "word by word over whole messages": ("gather rma-lock-words", "gather rma-lock"),
        "accumulated over put": ("scatter_add rma-accumulate", "scatter_add rma-lock"),
        "memory over messages": ("gather shared", "gather persistent"),
        "auto over persistent": ("gather auto", "gather persistent"),
        "fixed over fast": ("order fixed", "order fast"),
        "partition_free over fast": ("order partition_free", "order fast"),
    }
    found = {
        name: ratios(samples[above], samples[below])
        for name, (above, below) in pairs.items()
        if above in samples and below in samples
    }
    longest = [max(pair) for pair in zip(samples["alone auto"], samples["computed auto"], strict=True)]
    found["overlapped over longest"] = ratios(samples["overlapped auto"], longest)
    found["copying over exchange"] = ratios(samples["copied auto"], samples["alone auto"])
    gather = spread(samples["gather persistent"]).median
    found["map over gather"] = spread([one / gather for one in samples["make persistent"]])
    found["rebuild over gather"] = spread([one / gather for one in samples["rebuild persistent"]])
    return found


def aims_of(rows: list[dict[str, Any]], puts: dict[str, Any]) -> list[dict[str, Any]]:
    """Each aim, what was found, and where: of the rows that it is about, the worst."""
    adaptive = [row for row in rows if row["load"].startswith("ua-")]
    found = [
        worst("auto over the best of its transports", rows, over_best, "at most", 1.03),
        worst("auto over the best way by hand", rows, over_best_hand, "at most", 1.10),
        worst("auto over persistent", rows, of("auto over persistent"), "at most", 1.0),
        worst(
            "the fastest library over auto, gather and scatter-add",
            adaptive,
            fastest_library,
            "at least",
            1.2,
        ),
        worst("the fastest library over auto, build and 22 of both", adaptive, with_build, "at least", 1.5),
        worst(
            "memory over messages within a node, from 1 kB",
            large(rows),
            of("memory over messages"),
            "at most",
            0.6,
        ),
        worst("get over put", rows, of("get over put"), "at least", 1.5),
        worst("overlapped over the longer of both", rows, of("overlapped over longest"), "at most", 1.10),
        worst("partition_free over fast", adaptive, of("partition_free over fast"), "at most", 1.15),
        worst("map over gather", rows, of("map over gather"), "at most", 3.0),
        worst("rebuild over gather", rows, of("rebuild over gather"), "at most", 2.0),
    ]
    packed = puts.get("between nodes, packed")
    if packed:
        rate = 1e-6 / packed["median"]
        found.append(judged("packed puts per second and rank, millions", rate, "", "at least", 20.0))
    return [one for one in found if one is not None]


def of(name: str):
    return lambda row: (row["ratios"].get(name) or {}).get("median")


def large(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows whose messages have 1 kB at least, on average, between two ranks."""
    return [row for row in rows if 8 * row["components"] * row["values_sent"] >= 2 * 1024]


def over_best(row: dict[str, Any]) -> float:
    times = row["time_s"]
    return times["gather auto"]["median"] / times[f"gather {row['best']}"]["median"]


def over_best_hand(row: dict[str, Any]) -> float:
    times = row["time_s"]
    hands = [found["median"] for name, found in times.items() if name.startswith("by hand ")]
    return times["gather auto"]["median"] / min(hands)


def fastest_library(row: dict[str, Any]) -> float | None:
    return min((one["median"] for one in row["libraries_against_auto"].values()), default=None)


def with_build(row: dict[str, Any]) -> float | None:
    """A map that is made and used for so many gathers and scatter-adds: the fastest library over ours, whose
    transport was chosen before, as it is after the first map.
    """
    times = {name: found["median"] for name, found in row["time_s"].items()}
    ours = times["rebuild persistent"] + FLIGHTS_OF_A_MAP * (times["gather auto"] + times["scatter_add auto"])
    theirs = [
        times[f"build {name}"] + FLIGHTS_OF_A_MAP * (times[name] + times[f"scatter_add {name}"])
        for name in times
        if name.startswith(LIBRARY) and f"scatter_add {name}" in times
    ]
    return min(theirs) / ours if theirs else None


def worst(name: str, rows: list[dict[str, Any]], value, kind: str, bound: float) -> dict[str, Any] | None:
    known = [(value(row), f"{row['load']}, {row['components']}") for row in rows]
    known = [one for one in known if one[0] is not None]
    if not known:
        return None
    found, where = max(known) if kind == "at most" else min(known)
    return judged(name, found, where, kind, bound)


def judged(name: str, value: float, where: str, kind: str, bound: float) -> dict[str, Any]:
    holds = value <= bound if kind == "at most" else value >= bound
    return {"aim": name, "worst": value, "where": where, "wanted": f"{kind} {bound:g}", "met": holds}
