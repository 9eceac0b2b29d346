#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that each installed header compiles alone, with installed ones only: check_headers.py [BUILD_DIR].

The compiler and the include directories of other libraries come from the build's compile_commands.json. Exits
with 1 when a header fails.
"""

import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def compile_command(build: Path) -> list[str]:
    """The C++ compiler with the include directories, definitions and language flags of the library."""
    compiler, flags = "c++", dict[str, None]()
    sources = (ROOT / "src", build.resolve() / "src")  # the second of those that are compiled together
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = Path(entry["file"])
        if file.suffix == ".c" or not any(file.is_relative_to(directory) for directory in sources):
            continue
        words = shlex.split(entry["command"])
        launchers = [i for i, word in enumerate(words) if Path(word).name.startswith("ccache")]
        compiler = words[launchers[-1] + 1 if launchers else 0]
        for index, word in enumerate(words):
            if word == "-isystem":
                flags[f"-isystem{words[index + 1]}"] = None
            elif word.startswith(("-D", "-std=", "-isystem/", "-fopenmp", "-march=")):
                flags[word] = None
    return [
        compiler,
        f"-I{ROOT / 'include'}",
        *flags,
        "-Wall",
        "-Wextra",
        "-Werror",
        "-fsyntax-only",
        "-x",
        "c++",
    ]


def compile_alone(command: list[str], header: Path) -> str:
    """The compiler's complaints about a file that includes nothing but this header."""
    done = subprocess.run(
        [*command, "-include", str(header), "/dev/null"], capture_output=True, text=True, check=False
    )
    return (
        "" if done.returncode == 0 else f"{header.relative_to(ROOT)} does not compile alone:\n{done.stderr}"
    )


def main() -> int:
    build = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build"
    command = compile_command(build)
    headers = sorted((ROOT / "include").rglob("*.hpp"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        failures = [text for text in pool.map(lambda header: compile_alone(command, header), headers) if text]
    print("\n".join([*failures, f"check_headers: {len(headers)} headers, {len(failures)} failures"]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
