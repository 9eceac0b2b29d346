"""Output behind the computation: how much of it hides, and what many datasets cost."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tailrace.bench.document import make_document, say
from tailrace.bench.host import Watch
from tailrace.bench.programs import Runner, native_program, on_ranks
from tailrace.bench.stats import ratios, spread
from tailrace.bench.throttle import Throttle, find_throttle

PROGRAM = "tailrace-bench-output"
MEMORY_FILES = Path("/dev/shm")
MIB = 1 << 20
WARM_BLOCK_BYTES = 8 * MIB
# Memory of the native program: its field and buffers, in samples, and the rest.
PROGRAM_SAMPLES, PROGRAM_MIB = 4, 64
FLOAT_BYTES = 4
VARIANTS = ("compute", "write", "blocking", "threads")


@dataclass(frozen=True)
class Request:
    """What to measure: overlap at these shares of writing in the compute time, and many boxes against one."""

    parts: tuple[str, ...]
    ranks: tuple[int, ...]
    shares: tuple[float, ...]
    outputs: int
    pairs: int
    sample_mib: int
    compute_ms: float
    box_mib: tuple[int, ...]
    directory: Path | None = None


@dataclass(frozen=True)
class Scenario:
    """One overlap measurement: where the samples go, how slow that is, and how much is computed between."""

    storage: str
    ranks: int
    share: float
    work: int
    bytes_per_s: float | None


class Bench:
    """Runs the native program in its variants."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.program = native_program(PROGRAM)
        self.runner = Runner()

    def run(self, arguments: list[str], ranks: int, prepare=None) -> list[dict[str, float]]:
        """The accounts of all ranks."""
        command = on_ranks(self.program, ranks, 1, arguments)
        return json.loads(self.runner.run(command, 1, prepare).output)


def measure(request: Request) -> dict[str, Any]:
    """The whole benchmark as a document."""
    bench, watch = Bench(request), Watch()
    document: dict[str, Any] = {"overlap": [], "boxes": []}
    with tempfile.TemporaryDirectory(prefix="tailrace-bench-", dir=request.directory) as name:
        disk = Path(name)
        throttle = find_throttle(disk)
        if "overlap" in request.parts:
            document["overlap"] = measure_overlap(bench, disk, throttle)
        if "boxes" in request.parts:
            document["boxes"] = measure_boxes(bench, disk)
    settings = asdict(request) | {
        "directory": str(request.directory or tempfile.gettempdir()),
        "throttle": throttle if isinstance(throttle, str) else asdict(throttle) | {"hierarchy": ""},
    }
    return make_document("output", settings, watch, bench.runner.commands) | document


def measure_overlap(bench: Bench, disk: Path, throttle: Throttle | str) -> list[dict[str, Any]]:
    rows = []
    with memory_directory(disk) as memory:
        for ranks in bench.request.ranks:
            for scenario in make_scenarios(bench, ranks, disk, throttle):
                place = memory if scenario.storage == "paced" else disk
                rows.append(measure_scenario(bench, scenario, place / "overlap.h5", throttle))
    return rows


@contextmanager
def memory_directory(otherwise: Path) -> Iterator[Path]:
    """A directory in memory for the paced sink, whose only cost shall be its pace."""
    if not (MEMORY_FILES.is_dir() and os.access(MEMORY_FILES, os.W_OK)):
        yield otherwise
        return
    with tempfile.TemporaryDirectory(prefix="tailrace-bench-", dir=MEMORY_FILES) as name:
        yield Path(name)


def warm_page_cache(directory: Path, outputs: int, sample_mib: int) -> None:
    """Writes and deletes a file as large as the one to come and the program's memory, right before it starts:
    the first touch of memory in a virtual machine is ten times slower than a write, and some hypervisors take
    freed memory back within seconds.
    """
    size_mib = (outputs + PROGRAM_SAMPLES) * sample_mib + PROGRAM_MIB
    block = os.urandom(WARM_BLOCK_BYTES)
    with tempfile.TemporaryFile(dir=directory, buffering=0) as file:
        for _ in range(0, size_mib * MIB, WARM_BLOCK_BYTES):
            file.write(block)


def region_arguments(sample_mib: int, outputs: int) -> list[str]:
    """128 x 128 points per plane, as many planes as the sample needs."""
    planes = sample_mib * MIB // (128 * 128 * FLOAT_BYTES)
    return ["--region", "128", "128", str(planes), "--outputs", str(outputs)]


def make_scenarios(bench: Bench, ranks: int, disk: Path, throttle: Throttle | str) -> Iterator[Scenario]:
    """With a device whose speed can be set, the computation stays and the device changes; else the other way
    round.
    """
    request = bench.request
    sample_bytes = request.sample_mib * MIB
    unit_s = compute_seconds(bench, ranks, 1000) / 1000
    work = max(1, round(1e-3 * request.compute_ms / unit_s))
    for share in request.shares:
        rate = sample_bytes / (share * 1e-3 * request.compute_ms)
        yield Scenario("paced", ranks, share, work, rate)
    if isinstance(throttle, Throttle):
        for share in request.shares:
            rate = sample_bytes / (share * 1e-3 * request.compute_ms)
            yield Scenario("flushed, throttled", ranks, share, work, rate)
        return
    say(f"the device cannot be slowed down ({throttle}): the computation is fitted to it")
    write_s = flushed_seconds(bench, ranks, disk)
    for share in request.shares:
        yield Scenario("flushed", ranks, share, max(1, round(write_s / share / unit_s)), None)


def compute_seconds(bench: Bench, ranks: int, work: int) -> float:
    """Seconds of computation between two outputs, for this much work, when nothing disturbs it."""
    outputs, probes = 3, 5
    arguments = [*region_arguments(bench.request.sample_mib, outputs), "--work", str(work), "--no-output"]
    found = [max(rank["compute_s"] for rank in bench.run(arguments, ranks)) for _ in range(probes)]
    return min(found) / outputs


def flushed_seconds(bench: Bench, ranks: int, disk: Path) -> float:
    """Seconds that one flushed output takes."""
    outputs = bench.request.outputs
    arguments = [*region_arguments(bench.request.sample_mib, outputs), "--file", str(disk / "probe.h5")]
    arguments += ["--write", "blocking", "--flush", "sample"]
    return max(rank["run_s"] for rank in bench.run(arguments, ranks)) / outputs


def measure_scenario(
    bench: Bench, scenario: Scenario, file: Path, throttle: Throttle | str
) -> dict[str, Any]:
    """All variants in turn, repetition by repetition, after a round that is left out."""
    runs: dict[str, list[list[dict[str, float]]]] = {variant: [] for variant in VARIANTS}
    limited = throttle.limit(scenario.bytes_per_s or 0.0) if needs_throttle(scenario, throttle) else None
    with limited or nullcontext() as prepare:
        for repetition in range(bench.request.pairs + 1):
            say(f"{scenario_text(scenario)}: repetition {repetition} of {bench.request.pairs}")
            for variant in VARIANTS:
                arguments = variant_arguments(bench.request, scenario, variant, file)
                warm_page_cache(file.parent, bench.request.outputs, bench.request.sample_mib)
                accounts = bench.run(arguments, scenario.ranks, prepare)
                if repetition > 0:
                    runs[variant].append(accounts)
                file.unlink(missing_ok=True)
    return overlap_row(bench.request, scenario, runs)


def needs_throttle(scenario: Scenario, throttle: Throttle | str) -> bool:
    return isinstance(throttle, Throttle) and scenario.storage.startswith("flushed")


def scenario_text(scenario: Scenario) -> str:
    ranks = "1 rank" if scenario.ranks == 1 else f"{scenario.ranks} ranks"
    return f"{scenario.storage}, {ranks}, writing {100 * scenario.share:.0f} %"


def variant_arguments(request: Request, scenario: Scenario, variant: str, file: Path) -> list[str]:
    arguments = region_arguments(request.sample_mib, request.outputs)
    arguments += ["--work", "0" if variant == "write" else str(scenario.work)]
    if variant == "compute":
        return [*arguments, "--no-output"]
    arguments += ["--file", str(file), "--write", "threads" if variant == "threads" else "blocking"]
    if scenario.storage == "paced":
        # The pace is that of each process.
        return [*arguments, "--pace", f"bandwidth={scenario.bytes_per_s / scenario.ranks:.0f}"]
    return [*arguments, "--flush", "sample"]


def overlap_row(
    request: Request, scenario: Scenario, runs: dict[str, list[list[dict[str, float]]]]
) -> dict[str, Any]:
    """Run times, and the time of `threads` over what an ideal writer would need."""
    times = {
        variant: [max(rank["run_s"] for rank in accounts) for accounts in runs[variant]]
        for variant in VARIANTS
    }
    ideal = [
        max(compute, write) + write / request.outputs
        for compute, write in zip(times["compute"], times["write"], strict=True)
    ]
    return {
        **asdict(scenario),
        "outputs": request.outputs,
        "sample_bytes": request.sample_mib * MIB,
        "run_s": {variant: spread(times[variant]).as_dict() for variant in VARIANTS},
        "over_ideal": ratios(times["threads"], ideal).as_dict(),
        "blocking_over_threads": ratios(times["blocking"], times["threads"]).as_dict(),
        "hidden_fraction": spread([hidden(accounts) for accounts in runs["threads"]]).as_dict(),
        "write_cpu_s": spread([total(accounts, "write_cpu_s") for accounts in runs["threads"]]).as_dict(),
        "waits": spread([total(accounts, "waits") for accounts in runs["threads"]]).as_dict(),
        "accounts": runs,
    }


def total(accounts: list[dict[str, float]], name: str) -> float:
    return sum(rank[name] for rank in accounts)


def hidden(accounts: list[dict[str, float]]) -> float:
    """Share of the writing time that the computation did not wait for."""
    return min(1.0, max(0.0, 1 - total(accounts, "wait_s") / total(accounts, "write_s")))


def measure_boxes(bench: Bench, disk: Path) -> list[dict[str, Any]]:
    """256 boxes against one of the same points: cached, and flushed after every sample."""
    rows = []
    for sample_mib in bench.request.box_mib:
        for flush in ("none", "sample"):
            rows.append(compare_boxes(bench, sample_mib, flush, disk / "boxes.h5"))
    return rows


def compare_boxes(bench: Bench, sample_mib: int, flush: str, file: Path) -> dict[str, Any]:
    """Time and CPU time of the writing per sample; samples are written while nothing else happens."""
    planes = sample_mib * MIB // (128 * 128 * FLOAT_BYTES)
    outputs = max(8, 400 // sample_mib)
    base = ["--region", "128", "128", str(planes), "--outputs", str(outputs), "--file", str(file)]
    base += ["--write", "blocking", "--flush", flush]
    layouts = {"one": ["--boxes", "1", "1", "1"], "many": ["--boxes", "4", "8", "8"]}
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in layouts}
    for repetition in range(bench.request.pairs + 1):
        say(f"boxes, {sample_mib} MiB, flush {flush}: repetition {repetition} of {bench.request.pairs}")
        for name, boxes in layouts.items():
            warm_page_cache(file.parent, outputs, sample_mib)
            account = bench.run([*base, *boxes], 1)[0]
            if repetition > 0:
                runs[name].append(account)
            file.unlink(missing_ok=True)
    return boxes_row(sample_mib, outputs, flush, runs)


def boxes_row(
    sample_mib: int, outputs: int, flush: str, runs: dict[str, list[dict[str, float]]]
) -> dict[str, Any]:
    def per_sample(name: str, *counters: str) -> list[float]:
        return [sum(account[counter] for counter in counters) / outputs for account in runs[name]]

    row: dict[str, Any] = {"sample_bytes": sample_mib * MIB, "outputs": outputs, "flush": flush, "boxes": 256}
    for key, counters in {
        "write": ("write_s",),
        "cpu": ("write_cpu_s",),
        "pack": ("pack_s",),
        "output": ("write_s", "pack_s"),
    }.items():
        one, many = per_sample("one", *counters), per_sample("many", *counters)
        row[f"{key}_s"] = {"one": spread(one).as_dict(), "many": spread(many).as_dict()}
        row[f"{key}_ratio"] = ratios(many, one).as_dict()
    row["writes"] = {name: runs[name][0]["writes"] for name in runs}
    return row | {"accounts": runs}
