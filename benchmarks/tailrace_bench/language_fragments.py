# SPDX-License-Identifier: BSD-3-Clause
"""What a fragment of the language costs, beside one of the interface in C++ and beside LuNA itself.

`counted` is the language with the times of each statement, which `tailrace run` has for its report.
Each time is the difference of a run with many fragments and one with few, over that of their numbers,
so that starts are not in it. All systems of a program run one after the other in each repetition.
"""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.bench.document import say
from tailrace.bench.programs import native_program
from tailrace.bench.stats import ratios, spread
from tailrace.console import EXIT_RUN_FAILED, CommandError
from tailrace.launch import Layout, child_environment, find_launcher, launch_command
from tailrace.programs import launch_info

CHAIN = """C++ sub first(name r) ${{ r = 0; $}}
C++ sub next(int a, name r) ${{ r = a + 1; $}}
C++ sub last(int a, int n) ${{ if (a != n) abort(); $}}
sub main(int n) {
  df x;
  first(x[0]) @ { req_count x[0] = 1; };
  for i = 1..n
    next(x[i - 1], x[i]) @ { req_count x[i] = 1; };
  last(x[n], n);
}
"""
INDEPENDENT = """C++ sub first(name r) ${{ r = 0; $}}
C++ sub eat(int a) ${{ if (a != 0) abort(); $}}
sub main(int n) {
  df x;
  first(x);
  for i = 1..n
    eat(x);
}
"""
# Points on a ring, n steps.
STENCIL = """C++ sub first(name r) ${{ r = 0; $}}
C++ sub next(int a, int b, int c, name r) ${{ if (a != b || b != c) abort(); r = b + 1; $}}
C++ sub last(int a, int b, int c, int n) ${{ if (a != n || b != n || c != n) abort(); $}}
sub main(int n) {
  df x;
  for i = 0..7
    first(x[0][i]) @ { req_count x[0][i] = 3; };
  for k = 1..n
    for i = 0..7
      next(x[k - 1][(i + 7) % 8], x[k - 1][i], x[k - 1][(i + 1) % 8], x[k][i]) @ { req_count x[k][i] = 3; };
  for i = 0..7
    last(x[n][(i + 7) % 8], x[n][i], x[n][(i + 1) % 8], n);
}
"""
# Entries of a product of n x n matrices, each by n bodies.
PRODUCT = """C++ sub entry(int i, int j, name r) ${{ r = i + j; $}}
C++ sub add(int a, int b, int c, name r) ${{ r = c + a * b; $}}
C++ sub zero(name r) ${{ r = 0; $}}
C++ sub take(int a) ${{ if (a < 0) abort(); $}}
sub main(int n) {
  df a, b, c;
  for i = 0..n - 1
    for j = 0..n - 1 {
      entry(i, j, a[i][j]) @ { req_count a[i][j] = n; };
      entry(i, j, b[i][j]) @ { req_count b[i][j] = n; };
      zero(c[i][j][0]) @ { req_count c[i][j][0] = 1; };
      for k = 1..n
        add(a[i][k - 1], b[k - 1][j], c[i][j][k - 1], c[i][j][k]) @ { req_count c[i][j][k] = 1; };
      take(c[i][j][n]);
    }
}
"""


@dataclass(frozen=True)
class Kind:
    """A program, two arguments of it, and its bodies by argument."""

    text: str
    few: int
    many: int
    bodies: Callable[[int], int]


KINDS = {
    "chain": Kind(CHAIN, 1_000, 81_000, lambda n: n),
    "independent": Kind(INDEPENDENT, 1_000, 301_000, lambda n: n),
    "stencil": Kind(STENCIL, 100, 10_100, lambda n: 8 * n),
    "matrix product": Kind(PRODUCT, 10, 40, lambda n: n**3 + 4 * n**2),
}


def measure_fragments(
    directory: Path, pairs: int, ranks: Sequence[int], luna_home: Path | None, compile_program: Callable
) -> list[dict[str, Any]]:
    """A row for each program and number of ranks: nanoseconds per body of each system, and ratios."""
    rows = []
    for name, kind in KINDS.items():
        place = directory / name.replace(" ", "_")
        place.mkdir()
        source = place / "program.fa"
        source.write_text(kind.text)
        compile_program(source, place / "program.so")
        if luna_home is not None:
            compile_with_luna(source, luna_home)
        for count in ranks:
            rows.append(row(name, kind, place, count, pairs, luna_home))
    return rows


def row(name: str, kind: Kind, place: Path, ranks: int, pairs: int, luna_home: Path | None) -> dict[str, Any]:
    native = native_program("tailrace-fragments")
    words_of_program = [native, "--balance=off"]
    systems: dict[str, Callable[[], float]] = {
        "language": lambda: per_body(kind, ranks, [*words_of_program, place / "program.so"], {})
    }
    if ranks == 1:
        systems["c++"] = lambda: of_interface(name)
        counted = ["--account", place / "account.json"]
        systems["counted"] = lambda: per_body(
            kind, 1, [*words_of_program, *counted, place / "program.so"], {}
        )
    if luna_home is not None:
        words = [luna_home / "bin" / "rts", "--worker-threads-count=1", place / "libucodes.so"]
        found = {"LD_LIBRARY_PATH": str(luna_home / "lib"), "LUNA_HOME": str(luna_home)}
        systems["luna"] = lambda: per_body(kind, ranks, words, found)
    times: dict[str, list[float]] = {system: [] for system in systems}
    for repetition in range(-1, pairs):
        say(f"{name} on {ranks}: repetition {repetition + 1} of {pairs}")
        for system, run in systems.items():
            seconds = run()
            times[system] += [seconds] * (repetition >= 0)
    found = {"name": name, "ranks": ranks}
    found |= {f"{system}_ns": spread([1e9 * one for one in some]).as_dict() for system, some in times.items()}
    others = [system for system in times if system != "language"]
    return found | {f"over_{one}": ratios(times["language"], times[one]).as_dict() for one in others}


def per_body(kind: Kind, ranks: int, words: Sequence[object], settings: dict[str, str]) -> float:
    """Seconds per body."""
    few, many = (wall_s(ranks, [*words, n], settings) for n in (kind.few, kind.many))
    return (many - few) / (kind.bodies(kind.many) - kind.bodies(kind.few))


def wall_s(
    ranks: int, words: Sequence[object], settings: dict[str, str], directory: Path | None = None
) -> float:
    launcher = find_launcher(launch_info(native_program("tailrace-fragments")), None, 2)
    command = launch_command(launcher, Layout(ranks, 1, "none", oversubscribe=True), [*map(str, words)])
    started = time.monotonic()
    environment = child_environment(1) | settings
    done = subprocess.run(
        command, env=environment, cwd=directory, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise CommandError(
            f"{' '.join(command)} ended with status {done.returncode}: {done.stderr}", EXIT_RUN_FAILED
        )
    return time.monotonic() - started


def of_interface(name: str) -> float:
    """Seconds per body of the same program in C++."""
    words = [
        str(native_program("tailrace-bench-fragments")),
        "--rounds",
        "3",
        "--fragments",
        "80000",
        "--only",
        name,
    ]
    done = subprocess.run(words, env=child_environment(1), capture_output=True, text=True, check=True)
    found = next(one for one in json.loads(done.stdout)["rows"] if one["name"] == name)
    return 1e-6 * sorted(found["samples"])[len(found["samples"]) // 2]


def compile_with_luna(source: Path, home: Path) -> None:
    """Makes libucodes.so beside a program."""
    settings = os.environ | {"LUNA_HOME": str(home), "PATH": f"{home / 'bin'}:{os.environ['PATH']}"}
    luna = shutil.which("luna", path=settings["PATH"]) or "luna"
    words = [luna, "-q", "-c", source.name]
    done = subprocess.run(words, cwd=source.parent, env=settings, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CommandError(f"{luna} cannot compile {source}: {done.stderr}", EXIT_RUN_FAILED)
