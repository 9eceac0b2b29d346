# SPDX-License-Identifier: BSD-3-Clause
"""Memory of a waiting fragment of the language, and whole programs of LuNA's beside LuNA itself."""

import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tailrace.bench.document import say
from tailrace.bench.programs import native_program
from tailrace.bench.stats import ratios, spread
from tailrace.launch import child_environment
from tailrace_bench.language_fragments import compile_with_luna, wall_s

# n fragments wait for two reals each when the last of them prints the heap's growth.
WAITING = """import c_before(int n, name r) as before;
import c_pair(real, real) as pair;
import c_look(int n, name r) as look;
import c_make(name r) as make;
sub main(int n) {
  df a, b, count, go;
  before(n, count);
  for i = 1..count {
    pair(a[i], b[i]);
    if i == n look(n, go);
  }
  for i = 1..go { make(a[i]); make(b[i]); }
}
"""
BODIES = """#include <malloc.h>
#include <ucenv.h>
static size_t before, pairs;
static size_t heap() { const auto info = mallinfo2(); return info.uordblks + info.hblkhd; }
extern "C" void c_before(int n, OutputDF &r) { r = n; before = heap(); }
extern "C" void c_pair(double a, double b) { if (a != b) abort(); ++pairs; }
extern "C" void c_look(int n, OutputDF &r) { if (pairs) abort(); printf("%zu\\n", heap() - before); r = n; }
extern "C" void c_make(OutputDF &r) { r = 1.0; }
"""
WAITERS = 20_000
# Below the home of LuNA: directory, program, arguments.
PROGRAMS = {
    "matrix product of LuNA's examples": ("examples/mxm", "mxm.fa", []),
    "pipelined 3D sweep of LuNA's tests": (
        "tests/03_integral/10_conv_progonka",
        "Model3DTaskConvProgonka.fa",
        [""],
    ),
}


def measure_memory(directory: Path, compile_program: Callable) -> dict[str, Any]:
    """Bytes of a fragment that waits for two reals of its own: one of the language, one of the interface."""
    place = directory / "waiting"
    place.mkdir()
    (place / "bodies.cpp").write_text(BODIES)
    source = place / "program.fa"
    source.write_text(WAITING)
    compile_program(source, place / "program.so")
    words = [native_program("tailrace-fragments"), place / "program.so", WAITERS]
    said = output_of(words)
    interface = json.loads(
        output_of([native_program("tailrace-bench-fragments"), "--rounds", 1, "--fragments", WAITERS])
    )
    of_interface = next(one["bytes"] for one in interface["sizes"] if one["name"].endswith("of its own"))
    return {"language_bytes": int(said) / WAITERS, "c++_bytes": of_interface}


def output_of(words: Sequence[object]) -> str:
    command = [*map(str, words)]
    return subprocess.run(
        command, env=child_environment(1), capture_output=True, text=True, check=True
    ).stdout


def measure_programs(
    directory: Path, pairs: int, luna_home: Path, compile_program: Callable
) -> list[dict[str, Any]]:
    """Wall seconds of whole programs of LuNA's, compiled before, with one thread per rank."""
    rows = []
    native = native_program("tailrace-fragments")
    for name, (folder, file, arguments) in PROGRAMS.items():
        place = directory / folder.replace("/", "_")
        shutil.copytree(luna_home / folder, place)
        compile_program(place / file, place / "program.so", "--as-luna")
        compile_with_luna(place / file, luna_home)
        luna = [luna_home / "bin" / "rts", "--worker-threads-count=1", place / "libucodes.so", *arguments]
        settings = {"LD_LIBRARY_PATH": str(luna_home / "lib"), "LUNA_HOME": str(luna_home)}
        for ranks in (1, 2):
            ours, theirs = [], []
            for repetition in range(-1, pairs):
                say(f"{name} on {ranks}: repetition {repetition + 1} of {pairs}")
                both = (
                    wall_s(ranks, [native, place / "program.so", *arguments], {}, place),
                    wall_s(ranks, luna, settings, place),
                )
                for times, seconds in zip((ours, theirs), both, strict=True):
                    times += [seconds] * (repetition >= 0)
            rows.append(
                {
                    "name": name,
                    "ranks": ranks,
                    "language_s": spread(ours).as_dict(),
                    "luna_s": spread(theirs).as_dict(),
                    "over_luna": ratios(ours, theirs).as_dict(),
                }
            )
    return rows
