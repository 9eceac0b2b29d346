# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace bench study heat`: the study of NPB's UA on Blue Gene/P, repeated as far as one machine can."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tailrace.bench.document import make_document, say
from tailrace.bench.host import Watch
from tailrace.bench.programs import Runner, native_program
from tailrace.bench.stats import ratios, spread
from tailrace_bench import heat, heat_counts, heat_model, network
from tailrace_bench.heat import DISTRIBUTIONS, GET, PUT, WORD_BY_WORD, Found, Way
from tailrace_bench.stepping import working_directory
from tailrace_bench.study_heat_findings import SOURCE

# Counts and the model are of class C, as the study is. A rank's share of it on many ranks is as small as
# class S, where the costs of an element are from.
COUNTED_CLASS, SMALL_CLASS, WAYS_CLASS = "C", "S", "W"
MODEL_RULE, STUDY_RULES = "touching", ("double-block", "reversed-double-block")
ADAPTER = "mpi-nonblocking"
SIZES, WINDOWS, MESSAGES = (0, 8, 64, 512, 4096, 1 << 15, 1 << 18), 30, 64


@dataclass(frozen=True)
class Request:
    """What to measure: a class for the profile and the accesses; ranks that are inspected for the model."""

    npb_class: str
    pairs: int
    ranks: tuple[int, ...]
    directory: Path | None = None


def measure(request: Request) -> dict[str, Any]:
    """The whole study as a document."""
    native_program(heat.PROGRAM)
    watch, runner = Watch(), Runner(limit_s=heat.LIMIT_S)
    with working_directory(request.directory) as directory:
        profile, accesses = measure_profile(request, directory, runner)
        ways = measure_ways(request.pairs, directory, runner)
        small = heat.measure_ways(SMALL_CLASS, [Way(1, 1)], None, request.pairs, directory, runner)
    say("messages between two ranks")
    messages = network.measure(network.Request(SIZES, WINDOWS, MESSAGES))
    loggp = messages["setups"][0]["loggp"][ADAPTER]
    counts = heat_counts.inspect(COUNTED_CLASS, request.ranks, runner)
    settings = asdict(request) | {"directory": str(request.directory or "")}
    document = make_document("study heat", settings, watch, runner.commands + messages["commands"])
    (element_costs,) = (costs_of_an_element(found) for found in small.values())
    return document | {
        "title": "NPB UA with one-sided exchange: the reference study and ours",
        "subtitle": subtitle(document["machine"], request),
        "source": SOURCE,
        "profile": profile,
        "accesses": accesses,
        "ways": ways,
        "counts": counts,
        "loggp": loggp,
        "element_costs": element_costs,
        "model": model_rows(counts, element_costs, loggp),
    }


def subtitle(machine: dict[str, Any], request: Request) -> str:
    return (
        f"{machine['processor']}, {machine['cores']} cores; class {request.npb_class} for the profile, class "
        f"{WAYS_CLASS} on {heat.WAYS_RANKS} ranks for the ways, {COUNTED_CLASS} for counts and the model; "
        f"medians of {request.pairs} interleaved repetitions"
    )


def measure_profile(
    request: Request, directory: Path, runner: Runner
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What the time is made of, on one and on two ranks; and how often elements access mortar points, which
    are numbered as in the study.
    """
    numbered = Way(2, 1, keys=('heat.distribution="block"',), label="numbered")
    found = heat.measure_ways(
        request.npb_class, [Way(1, 1), Way(2, 1)], None, request.pairs, directory, runner
    )
    rows = [profile_row(request.npb_class, way, one) for way, one in found.items()]
    say(f"class {request.npb_class}: accesses")
    results = heat.run_own(request.npb_class, numbered, directory, runner)[1]["results"]
    meshes = {one["step"]: one for one in results["adaptations"]}
    sizes = ("elements", "mortars")
    return rows, [one | {name: meshes[one["step"]][name] for name in sizes} for one in results["accesses"]]


def profile_row(npb_class: str, way: Way, found: Found) -> dict[str, Any]:
    """Shares of the time of rank 0 in the last run, and the rate."""
    results = found.account["results"]
    phases, whole = results["phases"], results["computed_s"]
    shares = {name: phases[f"{name}_s"] / whole for name in ("convection", "diffusion", "adaptation")}
    shares["other"] = 1 - sum(shares.values())
    return {
        "name": f"{npb_class}, {way.name}",
        "ranks": way.ranks,
        "shares": shares,
        "exchanges": (phases["gather_s"] + phases["scatter_s"]) / whole,
        "sums": phases["reduction_s"] / whole,
        "mops": spread(found.mops).as_dict(),
        "verification": heat.worst_verification(found.verification),
    }


def measure_ways(pairs: int, directory: Path, runner: Runner) -> dict[str, Any]:
    """The rules of ownership, and put, get and both word by word; each with its messages and bytes."""
    usual = Way(heat.WAYS_RANKS, 1, label=DISTRIBUTIONS[0])
    ways = [usual]
    ways += [
        Way(heat.WAYS_RANKS, 1, keys=(f'heat.distribution="{name}"',), label=name)
        for name in DISTRIBUTIONS[1:]
    ]
    for transport in (PUT, GET):
        keys = (f'exchange.transport="{transport}"',)
        ways.append(Way(heat.WAYS_RANKS, 1, keys=keys, label=f"transport {transport}"))
        keys += ("exchange.aggregate=false",)
        ways.append(Way(heat.WAYS_RANKS, 1, keys=keys, label=f"transport {transport}{WORD_BY_WORD}"))
    found = heat.measure_ways(WAYS_CLASS, ways, None, pairs, directory, runner)
    rows = [
        {
            "name": way.name,
            "step_s": spread(one.step_s).as_dict(),
            "exchange_s": spread(heat.exchange_s(one)).as_dict(),
        }
        | {"over_touching": ratios(one.step_s, found[usual].step_s).as_dict()}
        | heat.sent(one.account)
        for way, one in found.items()
    ]
    return {"rows": rows, "compared": heat.compare_ways(found)}


def costs_of_an_element(found: Found) -> dict[str, float]:
    """Seconds of an element on one rank, in a step and in a change of the mesh, from medians of the runs."""
    results = found.account["results"]
    changed = sum(one["elements"] for one in results["adaptations"][1:])
    run_s = spread(found.step_s).median * heat_counts.CLASSES[results["class"]][1]
    changing_s = run_s * spread([parts["adaptation"] for parts in found.parts]).median
    return {
        "step_s": (run_s - changing_s) / results["element_steps"],
        "change_s": changing_s / changed,
    }


def model_rows(
    counts: dict[str, Any], element_costs: dict[str, float], loggp: dict[str, Any]
) -> list[dict[str, Any]]:
    """For each number of ranks the parts of the time of class C: ours with this machine's costs; on the
    study's machine, word by word, the study's rules with an adaptation by all, and ours with one that is
    shared out.
    """
    costs = heat_model.Costs.of(loggp)
    elements, rows = counts["elements"], []
    for change in counts["changes"]:
        by_rule = {row["rule"]: row for row in counts["rows"] if row["ranks"] == change["ranks"]}
        ours = heat_model.ours_here(
            by_rule[MODEL_RULE], change, elements, element_costs["step_s"], element_costs["change_s"], costs
        )
        there = {rule: heat_model.on_study_machine(by_rule[rule], elements, False) for rule in STUDY_RULES}
        shared = heat_model.on_study_machine(by_rule[MODEL_RULE], elements, True)
        there[MODEL_RULE] = shared
        row = {"ranks": change["ranks"], "here": as_row(ours)}
        rows.append(row | {"there": {rule: as_row(parts) for rule, parts in there.items()}})
    return rows


def as_row(parts: heat_model.Parts) -> dict[str, float]:
    return asdict(parts) | {"total_s": parts.total_s, "mops": parts.mops}


def serial_s(element_costs: dict[str, float]) -> float:
    """Of class C on one rank, if each element cost what one of a small mesh does: what speed-ups are over."""
    work = heat_model.WORK_MOP * 1e6 / (11 * 125)
    return (
        work * element_costs["step_s"]
        + heat_model.CHANGES * work / heat_model.STEPS * element_costs["change_s"]
    )
