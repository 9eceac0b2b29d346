#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that MPI is named in `mpi` alone, HDF5 called in `h5` alone, and CLI11 included in `base` alone:
check_calls.py [ROOT].

There every return code is checked and every handle has an owner; and what does not know MPI's types is the
same object with any MPI library. CLI11 costs a compiler seconds. Looks at the library, the simulations and
the tools; examples show programs of others, tests and benchmarks may call what they compare with. Prints one
line per violation and exits with 1 when there is one.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

TOPS = ("include", "src", "sims", "tools")
SUFFIXES = {".hpp", ".cpp", ".h", ".c", ".cu", ".cuh"}
# What a call looks like, for MPI any of its names, and the only module that may have it.
CALLS = {
    "mpi": re.compile(r"\bP?MPI_[A-Z]\w*|<mpi\.h>|mpi/native\.hpp"),
    "h5": re.compile(r"\bH5[A-Z]{1,2}\w*\s*\("),
    "base": re.compile(r"<CLI/"),
}
# Files outside of the module that may, with the reason.
EXCEPTIONS = {
    ("mpi", "include/tailrace/tailrace.hpp"): "for programs with a main loop of their own",
    ("mpi", "src/h5/parallel_module.cpp"): "a library of its own, between a parallel HDF5 and MPI alone",
    ("mpi", "src/output/sinks/pnetcdf_file.cpp"): "functions of PnetCDF take MPI's types",
    ("mpi", "src/output/sinks/adios_file.cpp"): "so do those of ADIOS2",
}
# Directories likewise.
EXCEPTED_DIRECTORIES = {
    ("mpi", "tools/messages/"): "defines the entry points of MPI in front of programs of others",
}


def code_of(line: str) -> str:
    """A line without its comment and, unless it includes a header, without what is in quotation marks."""
    if line.startswith("#include"):
        return line
    return re.sub(r'"(?:[^"\\]|\\.)*"', '""', line).split("//")[0]


def violations(root: Path) -> Iterator[str]:
    for top in TOPS:
        for path in sorted(path for path in (root / top).rglob("*") if path.suffix in SUFFIXES):
            yield from violations_in(path, path.relative_to(root).as_posix())


def violations_in(path: Path, name: str) -> Iterator[str]:
    modules = [
        module
        for module in CALLS
        if not name.startswith(f"src/{module}/")
        and (module, name) not in EXCEPTIONS
        and not any(name.startswith(place) for of, place in EXCEPTED_DIRECTORIES if of == module)
    ]
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        for module in modules:
            if call := CALLS[module].search(code_of(line)):
                yield f"{name}:{number}: {call[0].rstrip('( ')} belongs into src/{module}"


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    found = list(violations(root))
    for line in found:
        print(line)
    print(f"check_calls: {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
