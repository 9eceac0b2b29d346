# SPDX-License-Identifier: BSD-3-Clause
"""Asynchronous output: every strategy under many loads, and what many datasets cost."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tailrace.bench.document import make_document, say
from tailrace.bench.host import Watch
from tailrace.bench.rehearsal import MIB, Account, Rehearsal, cube
from tailrace.bench.stats import Spread, ratios, spread
from tailrace.console import CommandError
from tailrace.strategies import dedicated_ranks, name_of
from tailrace.units import duration_text
from tailrace_bench.forecast import Forecast, forecast
from tailrace_bench.output_boxes import measure_boxes
from tailrace_bench.output_rows import OWNERS, Row, runnable
from tailrace_bench.throttle import Throttle, find_throttle, writing_processes
from tailrace_bench.warm import remove_outputs, warm_page_cache

MEMORY_FILES = Path("/dev/shm")
SINK = "hdf5"
BASELINE_SINK = "hdf5-parallel"
# Runs alone, beside the strategies: the computation, and the writing.
COMPUTE, WRITE = "compute alone", "write alone"
# Starting and ending a program, for the estimate of the time left.
START_S = 0.7


@dataclass(frozen=True)
class Request:
    """What to measure: these rows with these strategies, and many boxes against one."""

    rows: tuple[Row, ...]
    strategies: tuple[str, ...]
    """Empty: all that this build has."""
    boxes: bool
    ranks: tuple[int, ...]
    outputs: int
    pairs: int
    sample_mib: int
    compute_ms: float
    box_mib: tuple[int, ...]
    directory: Path | None = None


@dataclass(frozen=True)
class Variant:
    """One way to write."""

    name: str
    strategy: str
    sink: str = SINK


@dataclass(frozen=True)
class Scenario:
    """A row on so many ranks, with all that was measured beforehand."""

    row: Row
    ranks: int
    units: int
    rate_bytes_s: float | None
    """Of the device; None where it is as it is."""

    @property
    def name(self) -> str:
        return f"{self.row.name}, {self.ranks} rank{'s' if self.ranks > 1 else ''}"


@dataclass
class Eta:
    """How much is left, from the share of the expected time that has passed."""

    expected_s: float
    started: float = field(default_factory=time.monotonic)
    done_s: float = 0.0

    def advance(self, expected_s: float) -> None:
        self.done_s += expected_s

    def left(self) -> str:
        if self.done_s <= 0:
            return f"about {duration_text(self.expected_s)} in all"
        passed_s = time.monotonic() - self.started
        return f"about {duration_text(passed_s / self.done_s * max(0.0, self.expected_s - self.done_s))} left"


class Bench:
    """One benchmark: what it was asked, the program, and where files go."""

    def __init__(self, request: Request, disk: Path, memory: Path) -> None:
        self.request = request
        self.disk, self.memory = disk, memory
        self.rehearsal = Rehearsal(disk)
        self.throttle = find_throttle(disk)
        self.variants = choose_variants(self.rehearsal.services(), request.strategies)
        self.scenarios = [
            (row, ranks)
            for ranks in request.ranks
            for row in request.rows
            if runnable(row, ranks, isinstance(self.throttle, Throttle))
        ]
        # A forecast needs a run that is shorter than the others, and one for each pace.
        runs = (request.pairs + 1) * (len(self.variants) + 3)
        self.eta = Eta(sum(runs * self.expected_s(row) for row, _ in self.scenarios))

    def expected_s(self, row: Row) -> float:
        """Seconds of one run."""
        return START_S + 1e-3 * self.request.compute_ms * self.request.outputs * max(1.0, row.share / 100)

    def load(self, row: Row) -> list[str]:
        words = cube(self.request.sample_mib, self.request.outputs)
        return [*words, "--select", row.selection, "--decomposition", OWNERS[row.owner]]

    def units_of(self, ranks: int, compute_ms: float) -> int:
        """Work of so long a step: the median of what three runs find on this machine."""
        words = [*cube(1, 1), "--select", "none", "--compute-ms", f"{compute_ms:g}"]
        return sorted(self.rehearsal.run(words, ranks).units for _ in range(3))[1]


def choose_variants(services: dict[str, list[str]], wanted: tuple[str, ...]) -> list[Variant]:
    """The strategies asked for, `blocking` always among them, and parallel HDF5 as the baseline."""
    for strategy in wanted:
        if name_of(strategy) not in [name_of(known) for known in services]:
            raise CommandError(f"--strategies {strategy}: this build has {', '.join(services)}.")
    strategies = wanted or tuple(name for name, sinks in services.items() if SINK in sinks)
    names = ["blocking", *(name for name in strategies if name != "blocking")]
    variants = [Variant(name, name) for name in names]
    if BASELINE_SINK in services.get("blocking", []):
        variants.append(Variant(BASELINE_SINK, "blocking", BASELINE_SINK))
    return variants


def measure(request: Request) -> dict[str, Any]:
    """The whole benchmark as a document."""
    watch = Watch()
    with tempfile.TemporaryDirectory(prefix="tailrace-bench-", dir=request.directory) as name:
        disk = Path(name)
        with memory_directory(disk) as memory, tuning_history(disk / "tuning"):
            bench = Bench(request, disk, memory)
            report_plan(bench)
            rows = measure_rows(bench)
            strategies = tuple(variant.strategy for variant in bench.variants if variant.sink == SINK)
            boxes = (
                measure_boxes(bench.rehearsal, disk, strategies, request.box_mib, request.pairs)
                if request.boxes
                else []
            )
    throttle = bench.throttle
    settings = asdict(request) | {
        "directory": str(request.directory or tempfile.gettempdir()),
        "strategies": [variant.name for variant in bench.variants],
        "throttle": throttle if isinstance(throttle, str) else asdict(throttle) | {"hierarchy": ""},
    }
    document = make_document("output", settings, watch, bench.rehearsal.runner.commands)
    return document | {"rows": rows, "boxes": boxes}


@contextmanager
def tuning_history(directory: Path) -> Iterator[None]:
    """`auto` learns from the runs of this benchmark, the unmeasured ones included, and from no others."""
    name = "TAILRACE_TUNING"
    before = os.environ.get(name)
    os.environ[name] = str(directory)
    try:
        yield
    finally:
        del os.environ[name]
        if before is not None:
            os.environ[name] = before


def report_plan(bench: Bench) -> None:
    asked = len(bench.request.rows) * len(bench.request.ranks)
    if isinstance(bench.throttle, str) and any(row.storage == "throttled" for row in bench.request.rows):
        say(f"throttled rows are left out: {bench.throttle}")
    if len(bench.scenarios) < asked:
        say(
            f"{asked - len(bench.scenarios)} of {asked} rows are left out: they need a throttle, or two ranks"
        )
    names = ", ".join(variant.name for variant in bench.variants)
    say(f"{len(bench.scenarios)} rows, {bench.request.pairs} repetitions of {names}: {bench.eta.left()}")


@contextmanager
def memory_directory(otherwise: Path) -> Iterator[Path]:
    """A directory in memory for the paced sink, whose only cost shall be its pace."""
    if not (MEMORY_FILES.is_dir() and os.access(MEMORY_FILES, os.W_OK)):
        yield otherwise
        return
    with tempfile.TemporaryDirectory(prefix="tailrace-bench-", dir=MEMORY_FILES) as name:
        yield Path(name)


def measure_rows(bench: Bench) -> list[dict[str, Any]]:
    units = {ranks: bench.units_of(ranks, bench.request.compute_ms) for ranks in bench.request.ranks}
    return [
        measure_row(bench, make_scenario(bench, row, ranks, units[ranks])) for row, ranks in bench.scenarios
    ]


def make_scenario(bench: Bench, row: Row, ranks: int, units: int) -> Scenario:
    """With a device whose speed can be set, the computation stays and the device changes, by what so many
    units take in such a run; else the other way round.
    """
    share = row.share / 100
    if row.storage != "flushed":
        alone = bench.rehearsal.run(computing_alone(bench, row, units), ranks)
        alone_s = alone.run_s / bench.request.outputs
        return Scenario(row, ranks, units, bench.request.sample_mib * MIB / (share * alone_s))
    compute_s = 1e-3 * bench.request.compute_ms
    words = [*bench.load(row), "--compute", "none", "--write", "blocking", "--flush", "sample"]
    found = bench.rehearsal.run([*words, "-o", str(bench.disk / "probe.h5")], ranks)
    (bench.disk / "probe.h5").unlink()
    return Scenario(
        row, ranks, max(1, round(units * found.run_s / bench.request.outputs / share / compute_s)), None
    )


def measure_row(bench: Bench, scenario: Scenario) -> dict[str, Any]:
    """All variants one after the other, in another order each time, after a round that is left out of the
    times but whose files are verified value by value.
    """
    row, throttle = scenario.row, bench.throttle
    variants = [Variant(COMPUTE, "blocking"), Variant(WRITE, "blocking"), *bench.variants]
    runs: dict[str, list[Account]] = {variant.name: [] for variant in variants}
    forecasts: list[dict[str, float]] = []
    limited = None
    if row.storage == "throttled" and isinstance(throttle, Throttle) and scenario.rate_bytes_s:
        limited = throttle.limit(scenario.rate_bytes_s)
    with limited or nullcontext() as prepare:
        for repetition in range(bench.request.pairs + 1):
            say(f"{scenario.name}: repetition {repetition} of {bench.request.pairs}, {bench.eta.left()}")
            for number in range(len(variants)):
                variant = variants[(number + repetition) % len(variants)]
                account = run_variant(bench, scenario, variant, repetition == 0, prepare)
                if repetition > 0:
                    runs[variant.name].append(account)
                bench.eta.advance(bench.expected_s(row))
            if repetition > 0:
                forecasts.append(forecast_all(bench, scenario, prepare))
            bench.eta.advance(bench.expected_s(row))
    return row_result(bench, scenario, runs, forecasts)


def run_variant(
    bench: Bench, scenario: Scenario, variant: Variant, verify: bool, prepare: Callable[[], None] | None
) -> Account:
    arguments = variant_arguments(bench, scenario, variant)
    if verify:
        arguments.append("--verify")
    ranks = scenario.ranks + dedicated_ranks(variant.strategy)
    with output_file(bench, scenario) as file:
        return bench.rehearsal.run([*arguments, "-o", str(file)], ranks, prepare)


@contextmanager
def output_file(bench: Bench, scenario: Scenario) -> Iterator[Path]:
    """Where a run of the row may write; what it leaves is removed."""
    file = (bench.memory if scenario.row.storage == "paced" else bench.disk) / "output.h5"
    warm_page_cache(file.parent, bench.request.outputs, bench.request.sample_mib)
    try:
        yield file
    finally:
        remove_outputs(file.parent)


def forecast_all(bench: Bench, scenario: Scenario, prepare: Callable[[], None] | None) -> dict[str, float]:
    """Predicted run times of the variants that the planner knows: from one short run for each pace, since a
    process that writes for others is given more of the device.
    """
    reported: dict[tuple[str, ...], Forecast] = {}
    found = {}
    for variant in bench.variants:
        if variant.sink != SINK:
            continue
        arguments = variant_arguments(bench, scenario, variant)
        arguments[arguments.index("--write") + 1] = "auto"
        if tuple(arguments) not in reported:
            with output_file(bench, scenario) as file:
                reported[tuple(arguments)] = forecast(
                    bench.rehearsal, [*arguments, "-o", str(file)], scenario.ranks, prepare
                )
        predicted = reported[tuple(arguments)].of(variant.strategy)
        if predicted is not None:
            found[variant.name] = predicted
    return found


def computing_alone(bench: Bench, row: Row, units: int) -> list[str]:
    arguments = bench.load(row)
    arguments[arguments.index("--select") + 1] = "none"
    return [*arguments, "--compute-units", str(units), "--write", "blocking", "--sink", SINK]


def variant_arguments(bench: Bench, scenario: Scenario, variant: Variant) -> list[str]:
    if variant.name == COMPUTE:
        return computing_alone(bench, scenario.row, scenario.units)
    units = 0 if variant.name == WRITE else scenario.units
    arguments = [*bench.load(scenario.row), "--compute-units", str(units)]
    arguments += ["--write", variant.strategy, "--sink", variant.sink]
    return [*arguments, *storage_arguments(scenario, variant.strategy)]


def storage_arguments(scenario: Scenario, strategy: str) -> list[str]:
    if scenario.row.storage != "paced":
        return ["--flush", "sample"]
    # The pace is that of each process: they share the device.
    owners = 1 if scenario.row.owner == "one" else scenario.ranks
    rate = (scenario.rate_bytes_s or 0.0) / min(owners, writing_processes(strategy, scenario.ranks))
    return ["--pace", f"bandwidth={rate:.0f}"]


def row_result(
    bench: Bench,
    scenario: Scenario,
    runs: dict[str, list[Account]],
    forecasts: list[dict[str, float]],
) -> dict[str, Any]:
    """Each variant against what an ideal writer would need, against `blocking` and the baseline, and what was
    predicted against it.
    """
    times = {name: [account.run_s for account in accounts] for name, accounts in runs.items()}
    ideal = [
        max(compute, write) + write / bench.request.outputs
        for compute, write in zip(times[COMPUTE], times[WRITE], strict=True)
    ]
    variants = {}
    for variant in bench.variants:
        accounts = runs[variant.name]
        found: dict[str, Spread] = {
            "run_s": spread(times[variant.name]),
            "over_ideal": ratios(times[variant.name], ideal),
            "over_blocking": ratios(times["blocking"], times[variant.name]),
            "hidden_fraction": spread([account.hidden() for account in accounts]),
            "write_cpu_s": spread([account.total("write_cpu_s") for account in accounts]),
            "waits": spread([account.total("waits") for account in accounts]),
            "unexplained": spread([account.unexplained_s() / account.run_s for account in accounts]),
        }
        idle = [share for account in accounts if (share := account.idle_share()) is not None]
        if len(idle) == len(accounts):
            found["idle_share"] = spread(idle)
        if BASELINE_SINK in times:
            found["over_baseline"] = ratios(times[BASELINE_SINK], times[variant.name])
        predicted = [forecast[variant.name] for forecast in forecasts if variant.name in forecast]
        if len(predicted) == len(accounts):
            found["predicted_over_run"] = ratios(predicted, times[variant.name])
        variants[variant.name] = {key: value.as_dict() for key, value in found.items()}
    return {
        "name": scenario.row.name,
        **asdict(scenario.row),
        "ranks": scenario.ranks,
        "units": scenario.units,
        "bytes_per_s": scenario.rate_bytes_s,
        "outputs": bench.request.outputs,
        "sample_bytes": bench.request.sample_mib * MIB,
        "compute_s": spread(times[COMPUTE]).as_dict(),
        "write_s": spread(times[WRITE]).as_dict(),
        "write_over_compute": ratios(times[WRITE], times[COMPUTE]).as_dict(),
        "variants": variants,
        "accounts": {name: [account.as_dict() for account in accounts] for name, accounts in runs.items()},
    }
