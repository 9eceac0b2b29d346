# SPDX-License-Identifier: BSD-3-Clause
"""What parts of the library cost: the fragments' parts, and what observes programs: message profiler,
fragment profiler and the analyser of its traces.
"""

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tailrace.bench.document import make_document, say
from tailrace.bench.host import Watch
from tailrace.bench.programs import Runner, native_program, on_ranks
from tailrace.bench.stats import ratios, spread
from tailrace.messages.preload import profiled
from tailrace_bench.network_place import PROGRAM as NETWORK
from tailrace_bench.network_rows import BASE, PING_PONG
from tailrace_bench.subsystems_traces import write_traces

PARTS, RUNTIME = "tailrace-bench-fragments", "tailrace-fragments"
SOURCE = Path(__file__).with_name("subsystems.fa")
SUBSYSTEMS = ("fragments", "messages", "recording", "analyser")
WINDOWS, MESSAGES = 30, 256
# Bodies in microseconds with how many of them, and the aim for what recording adds.
BODIES = ((10.0, 20_000, "full", 0.02), (1.0, 50_000, "sums", 0.10))
ANALYSE = """
import json, resource, sys, time
from pathlib import Path
from tailrace.fragment_profile.profile import read_profile
from tailrace.fragment_profile.rules import findings
start = time.perf_counter()
profile = read_profile(Path(sys.argv[1]))
json.dumps(profile.as_dict()), findings(profile)
memory = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
seconds, cpu_s = time.perf_counter() - start, time.process_time()
print(json.dumps({"seconds": seconds, "cpu_s": cpu_s, "memory_bytes": memory, "errors": profile.errors}))
"""


@dataclass(frozen=True)
class Request:
    """`records`: of all ranks together, for the analyser."""

    subsystems: tuple[str, ...]
    pairs: int
    fragments: int
    records: int
    ranks: int
    directory: Path | None = None


def measure(request: Request) -> dict[str, Any]:
    """The whole benchmark as a document."""
    watch, runner = Watch(), Runner()
    measures = {
        "fragments": lambda: parts(runner, request),
        "messages": lambda: message_profiler(runner, request.pairs),
        "recording": lambda: recording(runner, request.pairs),
        "analyser": lambda: analyser(runner, request),
    }
    rows = {name: measures[name]() for name in SUBSYSTEMS if name in request.subsystems}
    settings = asdict(request) | {"directory": str(request.directory or tempfile.gettempdir())}
    return make_document("subsystems", settings, watch, runner.commands) | rows


def parts(runner: Runner, request: Request) -> list[dict[str, Any]]:
    """Ids, unfolding, requests, hops, termination and stealing, by the native benchmark of fragments."""
    rows = []
    for ranks in (1, 2):
        say(f"parts of fragments on {ranks} rank{'s' if ranks > 1 else ''}: {request.pairs} rounds")
        words = ["--rounds", str(request.pairs), "--fragments", str(request.fragments)]
        found = json.loads(runner.run(on_ranks(native_program(PARTS), ranks, 1, words)).output)
        rows += [row | {"value": spread(row["samples"]).as_dict(), "ranks": ranks} for row in found["rows"]]
    return rows


def in_turns(pairs: int) -> Iterator[str]:
    for pair in range(pairs):
        yield from ("off", "on") if pair % 2 == 0 else ("on", "off")


def message_profiler(runner: Runner, pairs: int) -> dict[str, Any]:
    """Half of a round trip of 8 bytes with and without it: a message with both of its ends."""
    say(f"message profiler: {pairs} pairs")
    times: dict[str, list[float]] = {"off": [], "on": []}
    words = ["--adapters", BASE, "--sizes", "8", "--windows", str(WINDOWS), "--messages", str(MESSAGES)]
    with tempfile.TemporaryDirectory() as folder:
        command = on_ranks(native_program(NETWORK), 2, 1, words)
        at = command.index(str(native_program(NETWORK)))
        commands = {"off": command, "on": [*command[:at], *profiled(Path(folder), command[at:])]}
        for name in in_turns(pairs):
            rows = json.loads(runner.run(commands[name]).output)["rows"]
            (row,) = (row for row in rows if row["test"] == PING_PONG)
            times[name].append(min(row["seconds"]) / (2 * row["messages"]))
    more = [with_it - without for with_it, without in zip(times["on"], times["off"], strict=True)]
    return {"message_s": spread(times["off"]).as_dict(), "more_s": spread(more).as_dict()}


@contextmanager
def compiled(runner: Runner) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "subsystems.so"
        runner.run([sys.executable, "-m", "tailrace", "compile", str(SOURCE), "-o", str(program)])
        yield program


def recording(runner: Runner, pairs: int) -> list[dict[str, Any]]:
    """A chain of bodies with and without its trace, in full or, its budget spent at once, as sums only."""
    rows = []
    with compiled(runner) as program, tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "trace").mkdir()
        for body_us, count, mode, aim in BODIES:
            say(f"recording of bodies of {body_us:g} us: {pairs} pairs")
            budget = {"full": "1GiB", "sums": "1KiB"}[mode]
            options = {"off": [], "on": ["--trace", folder, "--trace-budget", budget]}
            seconds: dict[str, list[float]] = {"off": [], "on": []}
            for name in in_turns(pairs):
                words = [*options[name], str(program), str(count), str(body_us)]
                output = runner.run(on_ranks(native_program(RUNTIME), 1, 1, words)).output
                seconds[name].append(seconds_said(output) / count)
            rows.append(
                {"body_us": body_us, "mode": mode, "aim": aim, "body_s": spread(seconds["off"]).as_dict(),
                 "over": ratios(seconds["on"], seconds["off"]).as_dict()}
            )  # fmt: skip
    return rows


def seconds_said(output: str) -> float:
    found = re.search(r"^seconds ([0-9.e-]+)$", output, re.MULTILINE)
    if found is None:
        raise ValueError(f"{SOURCE.name} has printed no seconds: {output!r}")
    return float(found[1])


def analyser(runner: Runner, request: Request) -> dict[str, Any]:
    """Traces of so many records, made here, and a process that reads and analyses them."""
    with tempfile.TemporaryDirectory(prefix="tailrace-bench-", dir=request.directory) as folder:
        say(f"analyser: traces of {request.ranks} ranks")
        written = write_traces(Path(folder), request.ranks, request.records)
        found = json.loads(runner.run([sys.executable, "-c", ANALYSE, folder]).output)
    return {"records": written, "ranks": request.ranks, **found}
