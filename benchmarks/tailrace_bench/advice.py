# SPDX-License-Identifier: BSD-3-Clause
"""What the advice of the fragment profile is worth: programs with a planted fault, nearly with it, and as the
advice says. The first advice must name the fault, none may name it where it nearly is, and following it must
gain at least half of what was predicted and not more than the upper bound.
"""

import os
import shutil
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tailrace.bench.document import make_document, say
from tailrace.bench.host import Watch
from tailrace.bench.programs import Runner, native_program, on_ranks
from tailrace.bench.stats import ratios
from tailrace.fragment_profile.facts import Facts
from tailrace.fragment_profile.profile import Profile, read_profile
from tailrace.fragment_profile.rules import findings

PROGRAM = "tailrace-fragments"
SOURCE = Path(__file__).with_name("advice.fa")


@dataclass(frozen=True)
class Variant:
    """Numbers of a program in `advice.fa`, and options of what runs it."""

    numbers: tuple[float, float, float]
    ranks: int = 2
    options: tuple[str, ...] = ()
    is_traced: bool = True

    def words(self, fault: str) -> list[str]:
        a, b, c = self.numbers
        return [fault, str(int(a)), str(int(b)), str(float(c))]


@dataclass(frozen=True)
class Planted:
    """A fault by the name of its rule. `better`: as the advice says. `is_said`: the program says its time
    itself, as it is that of a run without a trace.
    """

    rule: str
    faulty: Variant
    nearly: Variant
    better: Variant
    is_said: bool = False


TOO_MANY = ("-t", str(4 * len(os.sched_getaffinity(0))))  # threads of each rank
PLANTED = (
    Planted("imbalance", Variant((60, 18, 0)), Variant((60, 11, 0)), Variant((60, 10, 0))),
    Planted("serial-chain", Variant((50, 1, 8)), Variant((50, 2, 8)), Variant((50, 1, 4))),
    Planted("late-start", Variant((40, 1, 120), 4), Variant((160, 1, 8), 4), Variant((40, 4, 120), 4)),
    Planted("late-inputs", Variant((100, 0, 20)), Variant((100, 0, 1)), Variant((100, 1, 20))),
    Planted(
        "messages-behind-bodies",
        Variant((30, 20, 20)),
        Variant((30, 200, 2)),
        Variant((30, 20, 20), options=("-t", "2")),
    ),
    Planted("rank-is-slower", Variant((60, 2, 20)), Variant((60, 2, 9)), Variant((60, 3, 20))),
    Planted("latency-bound", Variant((8000, 1, 6)), Variant((60, 1, 4000)), Variant((8000, 8001, 6))),
    Planted("expansion-starves", Variant((8000, 1, 3)), Variant((1000, 1, 400)), Variant((8000, 2, 3))),
    Planted("small-messages", Variant((2000, 0, 0)), Variant((200, 0, 2)), Variant((2000, 1, 0))),
    Planted("fetched-twice", Variant((60, 4, 1)), Variant((60, 1, 1)), Variant((60, 4, 0))),
    Planted(
        "fragments-too-small",
        Variant((60000, 1, 1), 1),
        Variant((60000, 20, 1), 1),
        Variant((60000, 10, 1), 1),
    ),
    Planted(
        "profile-costs",
        Variant((100000, 0, 4), 1),
        Variant((10000, 0, 60), 1),
        Variant((100000, 0, 4), 1, is_traced=False),
        is_said=True,
    ),
    Planted(
        "oversubscribed",
        Variant((2000, 2, 300), options=TOO_MANY),
        Variant((1000, 1, 300), 1),
        Variant((1000, 1, 300), 1),
    ),
    Planted(
        "placement-thrashes",
        Variant((600, 0, 1), 4, ("--balance", "steal")),
        Variant((600, 1, 1), 4, ("--balance", "steal")),
        Variant((600, 1, 1), 4),
    ),
    Planted("use-counts-missing", Variant((400, 0, 0), 1), Variant((400, 6, 0), 1), Variant((400, 10, 0), 1)),
)
RULES = tuple(one.rule for one in PLANTED)


@dataclass(frozen=True)
class Request:
    rules: tuple[str, ...]
    pairs: int
    directory: Path | None = None


def measure(request: Request) -> dict[str, Any]:
    """The whole benchmark as a document."""
    watch, runner = Watch(), Runner()
    with tempfile.TemporaryDirectory(prefix="tailrace-bench-", dir=request.directory) as name:
        program = Path(name) / "advice.so"
        runner.run(
            [
                sys.executable,
                "-m",
                "tailrace",
                "compile",
                "--warnings",
                "off",
                str(SOURCE),
                "-o",
                str(program),
            ]
        )
        bench = Bench(runner, program, Path(name) / "run")
        rows = [row_of(bench, one, request.pairs) for one in PLANTED if one.rule in request.rules]
    settings = asdict(request) | {"directory": str(request.directory or tempfile.gettempdir())}
    return make_document("advice", settings, watch, runner.commands) | {"rows": rows}


@dataclass
class Bench:
    """Runs variants of the program, each in the same directory."""

    runner: Runner
    program: Path
    directory: Path

    def run(self, fault: str, variant: Variant) -> str:
        """What it prints."""
        shutil.rmtree(self.directory, ignore_errors=True)
        (self.directory / "trace").mkdir(parents=True)
        traced = ["--trace", str(self.directory)] if variant.is_traced else []
        words = [*traced, *variant.options, str(self.program), *variant.words(fault)]
        return self.runner.run(on_ranks(native_program(PROGRAM), variant.ranks, 1, words)).output

    def profile(self, fault: str, variant: Variant) -> Profile:
        self.run(fault, variant)
        return read_profile(self.directory)

    def cost(self, one: Planted, variant: Variant, of: str) -> float:
        """What the advice wants to be less, of one run."""
        said = self.run(one.rule, variant)
        return said_s(said) if one.is_said else cost_of(read_profile(self.directory), of)


def row_of(bench: Bench, one: Planted, pairs: int) -> dict[str, Any]:
    """The fault and what the advice makes of it, in turns; the advice is that of the first run."""
    say(f"{one.rule}: {pairs} pairs")
    advice = findings(bench.profile(one.rule, one.faulty))
    spoken = next((found for found in advice if found.rule == one.rule), None)
    of = spoken.of if spoken else "time"
    costs: dict[str, list[float]] = {"faulty": [], "better": []}
    for pair in range(pairs):
        for name in ("faulty", "better") if pair % 2 == 0 else ("better", "faulty"):
            costs[name].append(bench.cost(one, getattr(one, name), of))
    nearly = [found.rule for found in findings(bench.profile(one.rule, one.nearly))]
    gained = ratios(costs["faulty"], costs["better"])
    predicted = (spoken.gain[0], spoken.expected, spoken.gain[1]) if spoken else None
    return {
        "rule": one.rule,
        "gains": of,
        "advice": [found.rule for found in advice],
        "numbers": spoken.numbers if spoken else {},
        "nearly": nearly,
        "predicted": predicted,
        "gained": gained.as_dict(),
        **verdict(one.rule, [found.rule for found in advice], nearly, predicted, gained.median),
    }


def said_s(output: str) -> float:
    """Seconds between the first and the last time that a program says."""
    times = [float(line.rpartition(" at ")[2]) for line in output.splitlines() if " at " in line]
    return max(times) - min(times)


def cost_of(profile: Profile, of: str) -> float:
    """The number that a gain is of."""
    facts = Facts(profile)
    if of == "transfers":
        return float(max(facts.fetches, 1))
    if of == "hops":
        return facts.moves / max(facts.moved, 1)
    if of == "bytes":
        return facts.peak_bytes
    return facts.body_mean_s if of == "body" else facts.wall_s


def verdict(
    rule: str,
    advice: list[str],
    nearly: list[str],
    predicted: tuple[float, float, float] | None,
    gained: float,
) -> dict[str, Any]:
    """`share` of the expected gain that following it gains; `predicted`: at least, expected, at most."""
    found = {"is_named": advice[:1] == [rule], "is_quiet": rule not in nearly}
    if predicted is None or predicted[1] <= 1:
        return found | {"share": None, "holds": False}
    share = (gained - 1) / (predicted[1] - 1)
    return found | {"share": share, "holds": share >= 0.5 and gained <= predicted[2]}
