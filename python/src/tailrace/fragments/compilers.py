# SPDX-License-Identifier: BSD-3-Clause
"""The C++ compiler of the environment, with the words of its commands."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tailrace.console import CommandError

PACKAGE = Path(__file__).parent
INCLUDE = (PACKAGE / "include", PACKAGE.parents[3] / "include")
STANDARD = "-std=c++17"
FLAGS = ("-fPIC",)
# Columns of messages in bytes, as other compilers and older ones count them.
OF_GCC = ("-fdiagnostics-column-unit=byte",)
GCC_WITH_UNITS = 11
# Standards before the one that ucenv.h needs; CXX_FLAGS of LuNA's users may have them.
OLD_STANDARD = re.compile(r"-std=(c|gnu)\+\+(98|03|0x|11|1y|14)")
NO_SPACE = "No space left on device"


@dataclass(frozen=True)
class Compiler:
    """The C++ compiler with its flags, and how it calls itself."""

    command: tuple[str, ...]
    link: tuple[str, ...]
    version: str
    shows: bool = False

    def run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """Runs it with further words. Raises CommandError where the disk is full."""
        command = [*self.command, *map(str, words)]
        if self.shows:
            print(shlex.join(command), file=sys.stderr)
        said = {"LC_ALL": "C", "LANGUAGE": ""}  # so that messages are those that we know
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False, env=os.environ | said
        )
        if done.returncode != 0 and NO_SPACE in done.stderr:
            raise CommandError(
                f"{done.stderr.strip()}\n  Fix: make room, or --build-dir or XDG_CACHE_HOME with a directory "
                "on another disk"
            )
        return done


def find_compiler(debug: bool = False, optimises: bool = True, shows: bool = False) -> Compiler:
    """The compiler of the environment: CXX, CXX_FLAGS and LDFLAGS, g++ if nothing is said."""
    words = tuple(shlex.split(os.environ.get("CXX") or "g++"))
    try:
        version = subprocess.run([*words, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise CommandError(
            f"the C++ compiler {words[0]} cannot be started\n  Fix: install g++, or set CXX"
        ) from error
    places = [f"-I{place}" for place in INCLUDE if place.is_dir()]
    level = ["-O3" if optimises else "-O0", *["-g"] * debug]
    command = (*words, STANDARD, *level, *FLAGS, *columns_of(version), *places, *flags_of_user())
    return Compiler(command, tuple(shlex.split(os.environ.get("LDFLAGS", ""))), version, shows)


def columns_of(version: str) -> Sequence[str]:
    """The options that make a compiler count columns in bytes, if it has others."""
    found = re.search(r"^.*\b(?:gcc|g\+\+|c\+\+).*?\b(\d+)\.\d+\.\d+", version.split("\n", 1)[0])
    return OF_GCC if found and int(found[1]) >= GCC_WITH_UNITS else ()


def flags_of_user() -> Sequence[str]:
    words = shlex.split(os.environ.get("CXX_FLAGS", ""))
    return [STANDARD if OLD_STANDARD.fullmatch(word) else word for word in words]
