# SPDX-License-Identifier: BSD-3-Clause
"""The native programs on PATH: `pip install` puts them inside the package, and these commands become them."""

import os
import sys
from pathlib import Path

from tailrace.console import EXIT_BAD_INPUT
from tailrace.programs import found_program, program_directories


def main() -> None:
    """Turns this process into the native program of the same name, with the same arguments."""
    name = Path(sys.argv[0]).name
    program = found_program(name)
    if program is None:
        places = ", ".join(map(str, program_directories()))
        print(
            f"tailrace: {name} is not in {places}. Fix: install again, or set TAILRACE_BIN_DIR",
            file=sys.stderr,
        )
        sys.exit(EXIT_BAD_INPUT)
    os.execv(program, [program, *sys.argv[1:]])
