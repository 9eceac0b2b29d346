# SPDX-License-Identifier: BSD-3-Clause
"""Time per step of `heat`, NPB's UA, where it goes, and NPB's own programs beside it."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tailrace.bench.document import make_document, say
from tailrace.bench.host import Watch
from tailrace.bench.programs import Runner, native_program, on_ranks
from tailrace.bench.stats import ratios, spread
from tailrace.console import CommandError
from tailrace_bench import npb_runs
from tailrace_bench.npb_runs import UNSUCCESSFUL, read_outcome
from tailrace_bench.stepping import working_directory

PROGRAM, NPB = "tailrace-heat", "NPB"
# Every way to run is compared on this class, or the first, and so many ranks.
WAYS_CLASS, WAYS_RANKS = "W", 2
DISTRIBUTIONS = ("touching", "balanced", "block", "cyclic", "double-block", "reversed-double-block")
# One-sided transports: the sender puts, or the receiver gets.
PUT, GET = "rma-lock", "get"
# Ways that are compared with each other, each with the one that comes last.
USUAL_WAY, NO_OVERLAP = "auto, touching, exact", "no overlap"
WORD_BY_WORD = ", word by word"
COMPARED = {
    "get over put": (f"transport {GET}", f"transport {PUT}"),
    "put word by word over whole messages": (f"transport {PUT}{WORD_BY_WORD}", f"transport {PUT}"),
    "get word by word over whole messages": (f"transport {GET}{WORD_BY_WORD}", f"transport {GET}"),
    "no overlap over overlap": (NO_OVERLAP, USUAL_WAY),
    "fast sums over exact ones": ("sum fast", USUAL_WAY),
    "contributions added before they leave over single ones": ("order fast", USUAL_WAY),
}
# Transports that add up in any order only.
IN_ANY_ORDER = ("rma-accumulate",)
# Class D takes a quarter of an hour on two cores.
LIMIT_S = 7200.0


@dataclass(frozen=True)
class Request:
    """What to measure."""

    classes: tuple[str, ...]
    layouts: tuple[tuple[int, int], ...]
    pairs: int
    ways: bool = True
    names: tuple[str, ...] = ()
    """Of these ways only those with one of these in their names; all if there is none."""
    reference: str = ""
    """Where NPB's programs are."""
    directory: Path | None = None


@dataclass(frozen=True)
class Way:
    """A program on ranks x threads, with keys of the case that differ from what is usual."""

    ranks: int
    threads: int
    program: str = PROGRAM
    keys: tuple[str, ...] = ()
    label: str = ""

    @property
    def name(self) -> str:
        if self.program == NPB:
            return f"NPB, {self.threads} thread{'s' * (self.threads > 1)}"
        return self.label or f"{self.ranks} x {self.threads}"

    @property
    def workers(self) -> int:
        return self.ranks * self.threads


@dataclass
class Found:
    """Of a way: a sample for each run, and the account of the last one of our program."""

    step_s: list[float] = field(default_factory=list)
    mops: list[float] = field(default_factory=list)
    parts: list[dict[str, float]] = field(default_factory=list)
    verification: list[str] = field(default_factory=list)
    account: dict[str, Any] = field(default_factory=dict)


def measure(request: Request) -> dict[str, Any]:
    """The whole benchmark as a document."""
    native_program(PROGRAM)
    references = {
        name: npb_runs.find(request.reference, name) for name in request.classes if request.reference
    }
    watch, runner = Watch(), Runner(limit_s=LIMIT_S)
    rows: list[dict[str, Any]] = []
    comparisons: list[dict[str, Any]] = []
    ways: list[dict[str, Any]] = []
    compared: list[dict[str, Any]] = []
    with working_directory(request.directory) as directory:
        for npb_class in request.classes:
            found = measure_ways(
                npb_class, usual_ways(request), references.get(npb_class), request.pairs, directory, runner
            )
            rows += [make_row(npb_class, way, one) for way, one in found.items()]
            comparisons += compare(npb_class, found)
        if request.ways:
            npb_class = WAYS_CLASS if WAYS_CLASS in request.classes else request.classes[0]
            others = named_ways(other_ways(npb_class, directory, runner), request.names)
            found = measure_ways(npb_class, others, None, request.pairs, directory, runner)
            ways, compared = other_rows(npb_class, found), compare_ways(found)
    settings = asdict(request) | {"directory": str(request.directory or "")}
    document = make_document("heat", settings, watch, runner.commands)
    return document | {"rows": rows, "comparisons": comparisons, "ways": ways, "compared": compared}


def usual_ways(request: Request) -> list[Way]:
    """Ours, and NPB's with as many threads as we have cores in any of them."""
    own = [Way(ranks, threads) for ranks, threads in request.layouts]
    counts = sorted({way.workers for way in own}) if request.reference else []
    return own + [Way(1, count, NPB) for count in counts]


def other_ways(npb_class: str, directory: Path, runner: Runner) -> list[Way]:
    """The transports that the MPI library has here, also word by word, the rules of ownership, sums that are
    not exact, and no overlap.
    """
    usual = Way(WAYS_RANKS, 1, label=USUAL_WAY)
    account = run_own(npb_class, usual, directory, runner)[1]
    transports = [one["name"] for one in account["exchange"]["transports"] if not one["obstacle"]]
    in_any_order = [name for name in IN_ANY_ORDER if name in transports]
    changes = [("exchange.transport", name, "transport") for name in transports if name not in in_any_order]
    changes += [("heat.distribution", name, "distribution") for name in DISTRIBUTIONS[1:]]
    changes += [("heat.sum", "fast", "sum"), ("exchange.order", "fast", "order")]
    ways = [
        Way(WAYS_RANKS, 1, keys=(f'{key}="{value}"',), label=f"{what} {value}")
        for key, value, what in changes
    ]
    for name in in_any_order:
        keys = (f'exchange.transport="{name}"', 'exchange.order="fast"')
        ways.append(Way(WAYS_RANKS, 1, keys=keys, label=f"transport {name}, order fast"))
    ways.append(Way(WAYS_RANKS, 1, keys=("heat.overlap=false",), label=NO_OVERLAP))
    for name in (PUT, GET):
        keys = (f'exchange.transport="{name}"', "exchange.aggregate=false")
        if name in transports:
            ways.append(Way(WAYS_RANKS, 1, keys=keys, label=f"transport {name}{WORD_BY_WORD}"))
    return [usual, *ways]


def named_ways(ways: list[Way], names: tuple[str, ...]) -> list[Way]:
    """The usual way, which the others are compared with, and those that are asked for."""
    for name in names:
        if not any(name in way.name for way in ways):
            known = ", ".join(way.name for way in ways[1:])
            raise CommandError(f"--way {name}: no way has that in its name. Fix: part of one of {known}.")
    return ways[:1] + [way for way in ways[1:] if not names or any(name in way.name for name in names)]


def measure_ways(
    npb_class: str, ways: list[Way], reference: Path | None, pairs: int, directory: Path, runner: Runner
) -> dict[Way, Found]:
    """All ways one after the other, repetition by repetition."""
    found = {way: Found() for way in ways}
    for repetition in range(pairs):
        say(f"class {npb_class}: repetition {repetition + 1} of {pairs}")
        for way, one in found.items():
            if way.program == PROGRAM:
                outcome, one.account = run_own(npb_class, way, directory, runner)
                one.parts.append(parts_of(one.account["results"]))
                seconds, mops = one.account["results"]["computed_s"], one.account["results"]["mops"]
            else:
                assert reference is not None
                outcome = npb_runs.run(reference, npb_class, way.threads, runner)
                seconds, mops = outcome.seconds, outcome.mops
            one.step_s.append(seconds / outcome.steps)
            one.mops.append(mops)
            one.verification.append(outcome.verification)
    return found


def run_own(
    npb_class: str, way: Way, directory: Path, runner: Runner
) -> tuple[npb_runs.Outcome, dict[str, Any]]:
    """What a run printed, and its account."""
    run_dir = directory / "run"
    words = [npb_class, "--out", str(run_dir), "--overwrite", "--quiet", "--trace", "off"]
    words += ["-t", str(way.threads), "--write", "blocking"]
    for key in way.keys:
        words += ["--set", key]
    command = on_ranks(native_program(PROGRAM), way.ranks, way.threads, words)
    finished = runner.run(command, way.threads, allowed=UNSUCCESSFUL)
    return read_outcome(finished.output, PROGRAM), json.loads((run_dir / "run.json").read_text())


def parts_of(results: dict[str, Any]) -> dict[str, float]:
    """The shares of the time of rank 0, which add up to 1."""
    phases = results["phases"]
    exchange_s = phases["gather_s"] + phases["scatter_s"]
    stepping_s = phases["convection_s"] + phases["diffusion_s"]
    parts = {
        "computing": stepping_s - exchange_s - phases["reduction_s"],
        "exchange": exchange_s,
        "reductions": phases["reduction_s"],
        "adaptation": phases["adaptation_s"],
    }
    whole = results["computed_s"]
    return {name: seconds / whole for name, seconds in parts.items()} | {
        "rest": 1 - sum(parts.values()) / whole
    }


def make_row(npb_class: str, way: Way, found: Found) -> dict[str, Any]:
    row = {
        "class": npb_class,
        "program": way.program,
        "ranks": way.ranks,
        "threads": way.threads,
        "name": f"{npb_class}, {way.name}",
        "step_s": spread(found.step_s).as_dict(),
        "mops": spread(found.mops).as_dict(),
        "verification": worst_verification(found.verification),
    }
    if way.program != PROGRAM:
        return row
    results = found.account["results"]
    elements = [one["elements"] for one in results["adaptations"]]
    return row | {
        "parts": {name: spread([one[name] for one in found.parts]).as_dict() for name in found.parts[0]},
        "integral": results["integral"],
        "difference": results.get("difference"),
        "elements": max(elements),
        "peak_memory_bytes": sum(found.account["peak_memory_bytes"]),
        "predicted_memory_bytes": sum(found.account["predicted_memory_bytes"]),
    }


def worst_verification(verdicts: list[str]) -> str:
    """That of all runs: what does not verify once does not verify."""
    return next((text for text in verdicts if text != "SUCCESSFUL"), "SUCCESSFUL")


def compare(npb_class: str, found: dict[Way, Found]) -> list[dict[str, Any]]:
    """Our ways against NPB's on as many cores or fewer, whichever is fastest, pair by pair."""
    rows = []
    for way, one in found.items():
        others = {w: o for w, o in found.items() if w.program == NPB and w.workers <= way.workers}
        if way.program != PROGRAM or not others:
            continue
        best = min(others, key=lambda other: spread(others[other].step_s).median)
        row = {"class": npb_class, "ranks": way.ranks, "threads": way.threads}
        row |= {"name": f"{npb_class}, {way.name}", "reference": best.name}
        rows.append(row | {"time_ratio": ratios(one.step_s, others[best].step_s).as_dict()})
    return rows


def other_rows(npb_class: str, found: dict[Way, Found]) -> list[dict[str, Any]]:
    """Each way against the usual one, and what its map of mortar points sent, over all ranks."""
    first = next(iter(found.values()))
    return [
        make_row(npb_class, way, one)
        | {"over_usual": ratios(one.step_s, first.step_s).as_dict()}
        | sent(one.account)
        for way, one in found.items()
    ]


def compare_ways(found: dict[Way, Found]) -> list[dict[str, Any]]:
    """Time of a step, and of that what exchanges took, of pairs of ways that both ran."""
    by_name = {way.name: one for way, one in found.items()}
    rows = []
    for name, (above, below) in COMPARED.items():
        if above not in by_name or below not in by_name:
            continue
        one, other = by_name[above], by_name[below]
        row = {"name": name, "step_ratio": ratios(one.step_s, other.step_s).as_dict()}
        rows.append(row | {"exchange_ratio": ratios(exchange_s(one), exchange_s(other)).as_dict()})
    return rows


def exchange_s(found: Found) -> list[float]:
    """Per step, as far as no computation hides it."""
    pairs = zip(found.step_s, found.parts, strict=True)
    return [step_s * parts["exchange"] for step_s, parts in pairs]


def sent(account: dict[str, Any]) -> dict[str, Any]:
    """Counted over all maps and ranks of a run."""
    ranks = [rank for one in account["exchange"]["maps"] for rank in one["per_rank"]]
    mortars = account["exchange"]["maps"][0]
    return {
        "messages": sum(rank["messages"] for rank in ranks),
        "sent_bytes": sum(rank["sent_bytes"] for rank in ranks),
        "flights": max(rank["flights"] for rank in mortars["per_rank"]),
        "chosen": [choice["chosen"] for choice in mortars.get("choices", ())],
    }
