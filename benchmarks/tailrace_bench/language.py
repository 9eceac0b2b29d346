# SPDX-License-Identifier: BSD-3-Clause
"""What the front end of the fragment language takes: checks by length, runs, and one changed body of many."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from tailrace.bench.document import make_document, say
from tailrace.bench.host import Watch
from tailrace.bench.programs import native_program
from tailrace.bench.stats import ratios, spread
from tailrace.console import EXIT_RUN_FAILED, CommandError
from tailrace.fragments.check import check_program
from tailrace.fragments.compilers import find_compiler
from tailrace.fragments.units import units_of
from tailrace.launch import child_environment
from tailrace_bench.language_fragments import measure_fragments
from tailrace_bench.language_programs import measure_memory, measure_programs
from tailrace_bench.stepping import working_directory

BODIES = 100
# Repetitions before those that count.
WARM_UP = 1
RANKS = 1, 2
# Beyond so many lines a program is checked once.
LONG = 100_000
# The front end in a process of its own, from its first import on.
FRONT_END = """import sys, time
started = time.perf_counter()
from pathlib import Path
from tailrace.fragments.check import check_program
from tailrace.fragments.lower import lower
from tailrace.fragments.units import program_unit, units_of
bound, problems = check_program(Path(sys.argv[1]))
assert not problems.errors, problems.as_text()
units_of(bound, {}, []), program_unit(lower(bound), bound.expanded.main)
print(time.perf_counter() - started)
"""
HEAD = "#define NEXT(i) ($i + 1)\n#define ROUNDS 3\n"
SMALL = """C++ sub one(name r) ${{ r = 1; $}}
C++ sub double_it(int a, name r) ${{ r = 2 * a; $}}
C++ sub show(string what, int v) ${{ printf("%s %d\\n", what, v); $}}
sub main(int n) {
  df x;
  one(x[0]);
  for i = 1..n double_it(x[i - 1], x[i]);
  show("result", x[n]);
}
"""
# A subroutine of ten lines; `k` is its number.
SUB = """sub part{k}(name x, name y, int n) {{
    df a;                                          // a comment
    set{b}(n + {k}, x[0], a);
    for i = 1..$ROUNDS {{
        set{b}($NEXT(i) * 2 % 5, x[i - 1], y[{k}][i]);
    }}
    if n > {k} && n % 2 == 0
        set{b}(n, a, y[{k}][0]);
    let m = n * 2 + {k} set{b}(m, x[m - 1], y[m][{k}]);
}} @ {{ locator_cyclic x[i] => i; }}
"""


@dataclass(frozen=True)
class Request:
    """What to measure: lengths of programs to check, and repetitions."""

    lines: tuple[int, ...]
    pairs: int
    directory: Path | None = None
    reference: Path | None = None
    """LuNA's home, built; None: not compared."""
    commands: bool = True
    """Whether commands are measured, or only what a fragment costs."""


@dataclass(frozen=True)
class Cost:
    """Of one command: wall seconds and the largest memory of its process."""

    wall_s: float
    memory_bytes: int


def measure(request: Request) -> dict[str, Any]:
    """The whole benchmark as a document."""
    native_program("tailrace-fragments")
    watch, commands = Watch(), Commands()
    with working_directory(request.directory) as directory:
        os.environ["XDG_CACHE_HOME"] = str(directory / "cache")
        rows = measure_commands(request, directory, commands) if request.commands else []

        def compile_program(source: Path, target: Path, *options: str) -> None:
            commands.run(tailrace("compile", "--warnings", "off", source, "-o", target, *options))

        costs = measure_fragments(directory, request.pairs, RANKS, request.reference, compile_program)
        memory = measure_memory(directory, compile_program)
        programs = (
            measure_programs(directory, request.pairs, request.reference, compile_program)
            if request.reference is not None
            else []
        )
    paths = {name: str(getattr(request, name) or "") for name in ("directory", "reference")}
    document = make_document("language", asdict(request) | paths, watch, commands.lines)
    return document | {"rows": rows, "fragments": costs, "memory": memory, "programs": programs}


def measure_commands(request: Request, directory: Path, commands: "Commands") -> list[dict[str, Any]]:
    """Checks, runs, and one changed body."""
    rows = [*measure_checks(request, directory, commands), *measure_runs(request, directory, commands)]
    return [*rows, measure_change(request, directory, commands)]


class Commands:
    """Runs commands to their end and remembers them."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def run(self, words: Sequence[object]) -> Cost:
        command = [*map(str, words)]
        if (line := " ".join(command)) not in self.lines:
            self.lines.append(line)
        started = time.monotonic()
        with tempfile.TemporaryFile("w+") as said:
            process = subprocess.Popen(
                command, env=child_environment(1), stdout=subprocess.DEVNULL, stderr=said
            )
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            said.seek(0)
            words_said = said.read()
        if process.returncode != 0:
            text = f"{line} ended with status {process.returncode}: {words_said}"
            raise CommandError(text, EXIT_RUN_FAILED)
        return Cost(time.monotonic() - started, usage.ru_maxrss * 1024)


def tailrace(*words: object) -> list[object]:
    return [sys.executable, "-m", "tailrace", *words]


def program_of(lines: int, changed: str = "") -> str:
    """A program of about so many lines with an include, macros and BODIES bodies, one of them `changed`."""
    bodies = "".join(
        f"C++ sub set{b}(int a, value v, name r) ${{{{ r = a + {b}; {changed if b == 0 else ''} $}}}}\n"
        for b in range(BODIES)
    )
    parts = max(1, (lines - BODIES) // (SUB.count("\n") + 1))
    subs = "".join(SUB.format(k=k, b=k % BODIES) for k in range(parts))
    calls = "".join(f"    part{k}(x[{k}], y[{k}], n);\n" for k in range(parts))
    return f'#include "head.fa"\n{bodies}{subs}sub main(int n) {{\n    df x, y;\n{calls}}}\n'


def write(path: Path, text: str) -> Path:
    path.with_name("head.fa").write_text(HEAD)
    path.write_text(text)
    return path


def repeated(request: Request, what: str, rows: dict[str, Callable[[], Cost]]) -> list[dict[str, Any]]:
    """All commands one after the other, repetition by repetition; the first one is for warming up."""
    costs: dict[str, list[Cost]] = {name: [] for name in rows}
    for repetition in range(-WARM_UP, request.pairs):
        say(f"{what}: repetition {repetition + 1} of {request.pairs}")
        for name, run in rows.items():
            cost = run()
            costs[name] += [cost] * (repetition >= 0)
    return [row_of(name, some) for name, some in costs.items()]


def row_of(name: str, costs: Sequence[Cost]) -> dict[str, Any]:
    return {
        "name": name,
        "wall_s": spread([one.wall_s for one in costs]).as_dict(),
        "memory_bytes": spread([float(one.memory_bytes) for one in costs]).as_dict(),
    }


def measure_checks(request: Request, directory: Path, commands: Commands) -> list[dict[str, Any]]:
    """Checks of programs by length, the start of the command included; long ones once."""
    rows: dict[bool, dict[str, Callable[[], Cost]]] = {False: {}, True: {}}
    counts = {}
    for lines in sorted(request.lines):
        path = write(directory / f"check{lines}.fa", program_of(lines))
        count = path.read_text().count("\n")
        words = tailrace("compile", "--check", "--warnings", "off", path)
        name = f"check of {count:,} lines"
        rows[lines > LONG][name] = lambda words=words: commands.run(words)
        counts[name] = count
    found = repeated(request, "check", rows[False]) if rows[False] else []
    for name, run in rows[True].items():
        say(f"{name}, once")
        found.append(row_of(name, [run()]))
    price_further_lines(found, counts)
    return found


def price_further_lines(found: list[dict[str, Any]], counts: dict[str, int]) -> None:
    """Seconds and bytes of each line that a program has more than the one of the row before."""
    for shorter, row in pairwise(found):
        further = counts[row["name"]] - counts[shorter["name"]]
        row["line_s"] = (row["wall_s"]["median"] - shorter["wall_s"]["median"]) / further
        more = row["memory_bytes"]["median"] - shorter["memory_bytes"]["median"]
        row["line_bytes"] = more / further


def measure_runs(request: Request, directory: Path, commands: Commands) -> list[dict[str, Any]]:
    """A small program on two ranks with its report: nothing was ever compiled, a body is, or all was before;
    and what the front end takes of that.
    """
    path = write(directory / "small.fa", SMALL)
    words = tailrace("run", path, "-n", 2, "--out", directory / "run", "--overwrite", "--", 10)
    number = iter(range(10**6))

    def changed() -> Cost:
        write(path, SMALL.replace("2 * a", f"2 * a + {next(number)} * 0"))
        return commands.run(words)

    def first() -> Cost:
        shutil.rmtree(directory / "cache", ignore_errors=True)
        return commands.run(words)

    def front_end() -> Cost:
        started = subprocess.run(
            [sys.executable, "-c", FRONT_END, path],
            env=child_environment(1),
            capture_output=True,
            text=True,
            check=True,
        )
        return Cost(float(started.stdout), 0)

    rows: dict[str, Callable[[], Cost]] = {"run on 2 ranks, first, all C++ compiled": first}
    rows |= {"run on 2 ranks, a body changed": changed}
    rows |= {"run on 2 ranks, again": lambda: commands.run(words)}
    found = repeated(request, "run", rows)
    (front,) = repeated(request, "front end", {"the front end of that": front_end})
    del front["memory_bytes"]
    return [*found, front]


def measure_change(request: Request, directory: Path, commands: Commands) -> dict[str, Any]:
    """`tailrace compile` with one changed body of BODIES, over the compiler's own time for that body."""
    path = directory / "many.fa"
    commands.run(
        tailrace("compile", "--warnings", "off", write(path, program_of(500)), "-o", directory / "m.so")
    )
    ours, theirs = [], []
    alone = directory / "alone"  # what is beside a program belongs to it
    alone.mkdir()
    for repetition in range(request.pairs):
        say(f"one changed body: repetition {repetition + 1} of {request.pairs}")
        write(path, program_of(500, f"r = {repetition};"))
        words = tailrace("compile", "--warnings", "off", path, "-o", directory / "m.so")
        ours.append(commands.run(words).wall_s)
        unit = units_of(check_program(path)[0], {}, [])[0]
        source = alone / "unit.cpp"
        source.write_text(unit.text)
        theirs.append(commands.run([*find_compiler().command, "-c", source, "-o", alone / "unit.o"]).wall_s)
    return {
        "name": f"compile, 1 of {BODIES} bodies changed",
        "wall_s": spread(ours).as_dict(),
        "compiler_s": spread(theirs).as_dict(),
        "over_compiler": ratios(ours, theirs).as_dict(),
    }
