# SPDX-License-Identifier: BSD-3-Clause
"""Examples that are built as a user would, against what `cmake --install` makes."""

import re
import subprocess
from functools import partial
from pathlib import Path

import pytest

import jobs
from shared import Shared

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
BUILD_LIMIT_S = 300


def command(*words) -> None:
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, check=False, timeout=BUILD_LIMIT_S
    )
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"


class Examples:
    """Builds examples on the installed library, each once for all tests."""

    def __init__(self, once: Shared) -> None:
        self.once = once
        self.build = jobs.REHEARSE.parent.parent
        self.cache = self.build / "CMakeCache.txt"

    def __call__(self, name: str, program: str) -> Path:
        """Returns the program of an example."""
        if not self.cache.is_file():
            pytest.skip("the programs are not in a build directory")
        return self.once(f"example {name}", partial(self.made, name)) / program

    def made(self, name: str, directory: Path) -> Path:
        prefix = self.once("installed library", self.installed)
        compiler = re.search(r"^MPI_CXX_COMPILER:\w+=(.+)$", self.cache.read_text(), re.MULTILINE)[1]
        words = ["-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DMPI_CXX_COMPILER={compiler}"]
        command("cmake", "-S", EXAMPLES / name, "-B", directory, *words)
        command("cmake", "--build", directory)
        return directory

    def installed(self, directory: Path) -> Path:
        command("cmake", "--install", self.build, "--prefix", directory, "--component", "devel")
        return directory
