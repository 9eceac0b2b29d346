# SPDX-License-Identifier: BSD-3-Clause
"""What `heat` sends, counted: by the program itself on real ranks, and by one process that inspects on behalf
of one rank after the other.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tailrace.bench.document import make_document, say
from tailrace.bench.host import Watch
from tailrace.bench.programs import Runner, native_program, on_ranks
from tailrace_bench.exchange import ELSEWHERE
from tailrace_bench.heat import DISTRIBUTIONS, LIMIT_S, PROGRAM, Way, run_own
from tailrace_bench.stepping import working_directory

INSPECTOR = "tailrace-bench-exchange"
# Level and steps of each class of NPB; the mesh changes every so many steps.
CLASSES = {"S": (4, 50), "W": (5, 100), "A": (6, 200), "B": (7, 200), "C": (8, 200), "D": (10, 250)}
ADAPT_EVERY = 5
# The inspector's names of the rules.
RULES = {
    "touching": "lowest_rank",
    "balanced": "balanced",
    **{name: name.replace("-", "_") for name in DISTRIBUTIONS[2:]},
}
# About as many elements on each rank.
WEAK = (("A", 4), ("B", 16), ("C", 64))
WEAK_RULES = ("touching", "balanced")
WEAK_GROWTH = 0.10
REAL_RANKS = (2, 4, 8, 16, 32, 64)
# Of a part of a change of the mesh; `most`: on a rank, number by number.
SENT = ("items", "messages", "bytes", "max_items", "max_messages", "max_bytes")
CHANGE_PARTS = ("transfer", "surroundings", "numbering")


@dataclass(frozen=True)
class Request:
    """What to count: the mesh in the middle of a run of a class and the change to it."""

    npb_class: str
    ranks: tuple[int, ...]
    """Inspected."""
    real: tuple[int, ...]
    """Of these, by the program on so many."""
    steps: int = ADAPT_EVERY + 1
    """Of each run of the program; the last change of its mesh is the one that is counted."""
    weak: bool = True
    directory: Path | None = None

    @property
    def middle(self) -> int:
        """The step after which the mesh is counted."""
        return CLASSES[self.npb_class][1] // 2


def measure(request: Request) -> dict[str, Any]:
    """The counts as a document."""
    native_program(PROGRAM)
    watch, runner = Watch(), Runner(limit_s=LIMIT_S)
    inspected = inspect(request.npb_class, request.ranks, runner)
    with working_directory(request.directory) as directory:
        real = {
            (ranks, rule): run_real(request.npb_class, ranks, rule, request.steps, directory, runner)
            for ranks in request.real
            for rule in RULES
        }
        weak = [
            weak_row(npb_class, ranks, rule, request.steps, directory, runner)
            for rule in WEAK_RULES
            for npb_class, ranks in (WEAK if request.weak else ())
        ]
    settings = asdict(request) | {"directory": str(request.directory or ""), "middle": request.middle}
    document = make_document("heat-counts", settings, watch, runner.commands)
    return document | {
        "elements": inspected["elements"],
        "points": inspected["points"],
        "rows": [count_row(request.npb_class, row, real) for row in inspected["rows"]],
        "changes": change_rows(inspected["changes"], real),
        "weak": weak,
    }


def inspect(npb_class: str, ranks: tuple[int, ...], runner: Runner) -> dict[str, Any]:
    """Every rule on each number of ranks, by one process."""
    say(f"class {npb_class}: inspecting {', '.join(map(str, ranks))} ranks, one after the other")
    words = ["--counts", npb_class, "--step", str(CLASSES[npb_class][1] // 2), "--change", str(ADAPT_EVERY)]
    words += ["--ranks", *map(str, ranks)]
    found = json.loads(runner.run(on_ranks(native_program(INSPECTOR), 1, 1, words)).output)
    names = {theirs: ours for ours, theirs in RULES.items()}
    for row in found["rows"]:
        row["rule"] = names[row["rule"]]
    return found


def start_of(npb_class: str, steps: int) -> list[float]:
    """Where the ball is so many steps before the middle of a run that the last change of the mesh in so many
    leads to the mesh of the middle.
    """
    level, all_steps = CLASSES[npb_class]
    first = all_steps // 2 - (steps - 1) // ADAPT_EVERY * ADAPT_EVERY
    time = 0.0
    for _ in range(first):
        time += 0.04 / 2**level
    return [3 / 7 + 3 * time, 2 / 7 + 3 * time, 2 / 7 + 3 * time]


def run_real(
    npb_class: str, ranks: int, rule: str, steps: int, directory: Path, runner: Runner
) -> dict[str, Any]:
    """What the program counted on so many ranks: of the map of its last mesh, of the change to it, and the
    memory of its processes.
    """
    say(f"class {npb_class}: {ranks} ranks, {rule}")
    keys = (
        f"heat.centre={start_of(npb_class, steps)!r}",
        f"time.steps={steps}",
        f'heat.distribution="{rule}"',
        'exchange.transport="persistent"',
    )
    account = run_own(npb_class, Way(ranks, 1, keys=keys), directory, runner)[1]
    return real_counts(account)


def real_counts(account: dict[str, Any]) -> dict[str, Any]:
    results, maps = account["results"], account["exchange"]["maps"]
    of_ranks = maps[0]["per_rank"]
    traffic = results["traffic"][-1]
    return {
        "elements": results["adaptations"][-1]["elements"],
        "points": results["adaptations"][-1]["mortars"],
        "max_elements": results["max_on_a_rank"][-1]["elements"],
        "reads": total_and_most(of_ranks, "landing"),
        "contributions": total_and_most(of_ranks, "rim"),
        "messages": total_and_most(of_ranks, "reads_from"),
        "products": total_and_most(maps[1]["per_rank"], "landing") if len(maps) > 1 else no_products(),
        "map": traffic["map"],
        "changes": {part: traffic[part] for part in CHANGE_PARTS},
        "map_bytes": total_and_most([{"bytes": bytes_of(maps, r)} for r in range(len(of_ranks))], "bytes"),
        "memory_bytes": total_and_most([{"bytes": one} for one in account["peak_memory_bytes"]], "bytes"),
    }


def bytes_of(maps: list[dict[str, Any]], rank: int) -> int:
    """All maps of a rank."""
    return sum(one["per_rank"][rank]["memory_bytes"] for one in maps)


def total_and_most(ranks: list[dict[str, Any]], name: str) -> dict[str, int]:
    values = [rank[name] for rank in ranks]
    return {"total": sum(values), "most": max(values)}


def no_products() -> dict[str, int]:
    return {"total": 0, "most": 0}


def count_row(
    npb_class: str, inspected: dict[str, Any], real: dict[tuple[int, str], dict[str, Any]]
) -> dict[str, Any]:
    """A rule on so many ranks; where the program ran, what differs from the inspection by name."""
    ranks, rule = inspected["ranks"], inspected["rule"]
    found = real.get((ranks, rule))
    row = {"ranks": ranks, "rule": rule, "inspected": inspected, "real": found, "differs": None}
    known = npb_class == "C" and rule in WEAK_RULES
    row["counted_elsewhere"] = ELSEWHERE.get(ranks) if known else None
    if found is not None:
        names = ("reads", "contributions", "messages", "products", "map")
        row["differs"] = [name for name in names if found[name] != inspected[name]]
    return row


def change_rows(
    inspected: list[dict[str, Any]], real: dict[tuple[int, str], dict[str, Any]]
) -> list[dict[str, Any]]:
    """A change of the mesh on so many ranks; by `touching` where the program ran."""
    rows = []
    for one in inspected:
        found = real.get((one["ranks"], "touching"))
        row = {"ranks": one["ranks"], "inspected": {part: one[part] for part in CHANGE_PARTS}}
        row |= {"real": found and found["changes"], "differs": None}
        if found is not None:
            row["differs"] = [part for part in CHANGE_PARTS if found["changes"][part] != one[part]]
        rows.append(row)
    return rows


def weak_row(
    npb_class: str, ranks: int, rule: str, steps: int, directory: Path, runner: Runner
) -> dict[str, Any]:
    """Means over ranks of what the program counted: of a gather, of a change of the mesh, and memory."""
    found = run_real(npb_class, ranks, rule, steps, directory, runner)
    sent = [*found["changes"].values(), found["map"]]
    totals = {
        "elements": found["elements"],
        "messages": found["messages"]["total"],
        "bytes": 8 * found["reads"]["total"],
        "contribution_bytes": 8 * found["contributions"]["total"],
        "change_messages": sum(part["messages"] for part in sent),
        "change_bytes": sum(part["bytes"] for part in sent),
        "map_bytes": found["map_bytes"]["total"],
        "memory_bytes": found["memory_bytes"]["total"],
    }
    row = {"class": npb_class, "ranks": ranks, "rule": rule}
    return row | {name: total / ranks for name, total in totals.items()}


def growth(rows: list[dict[str, Any]], name: str) -> float:
    """The last of the rows over the first, for as many elements on a rank."""
    first, last = rows[0], rows[-1]
    return (last[name] / last["elements"]) / (first[name] / first["elements"])
