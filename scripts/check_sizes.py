#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the sizes of functions and files, in C++ and Python: check_sizes.py [ROOT].

No function is longer than 45 lines, no file longer than 500, and half of all functions of the library, the
simulations and the command have at most 6 lines, signature and closing brace included. The keys of cases are
tables, of which only the files are measured. Prints a line per violation and exits with 1 when there is one.
"""

import statistics
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import lizard

MAX_FUNCTION_LINES = 45
MAX_FILE_LINES = 500
MAX_MEDIAN_LINES = 6
TABLES = "case_keys.cpp"

PRODUCT = ("include", "src", "sims", "tools", "python/src")
OTHERS = ("bench", "examples", "python/bench", "python/tests", "scripts", "tests")
SUFFIXES = {".hpp", ".cpp", ".h", ".c", ".cu", ".cuh", ".py"}


@dataclass(frozen=True)
class Function:
    name: str
    line: int
    lines: int


@dataclass(frozen=True)
class Source:
    """What is to be known of one file."""

    path: Path
    lines: int
    functions: tuple[Function, ...]


def files_below(root: Path, tops: tuple[str, ...]) -> Iterator[Path]:
    for top in tops:
        yield from sorted(path for path in (root / top).rglob("*") if path.suffix in SUFFIXES)


def read_source(path: Path) -> Source:
    functions = tuple(
        Function(found.name, found.start_line, found.end_line - found.start_line + 1)
        for found in lizard.analyze_file(str(path)).function_list
    )
    return Source(path, len(path.read_text(encoding="utf-8").splitlines()), functions)


def read_sources(root: Path, tops: tuple[str, ...]) -> list[Source]:
    with ProcessPoolExecutor() as pool:
        return list(pool.map(read_source, files_below(root, tops), chunksize=16))


def too_long(source: Source, root: Path) -> Iterator[str]:
    name = source.path.relative_to(root)
    if source.lines > MAX_FILE_LINES:
        yield f"{name}: {source.lines} lines, more than {MAX_FILE_LINES}"
    for function in source.functions if name.name != TABLES else ():
        if function.lines > MAX_FUNCTION_LINES:
            yield (
                f"{name}:{function.line}: {function.name} has {function.lines} lines, "
                f"more than {MAX_FUNCTION_LINES}"
            )


def median_lines(sources: list[Source]) -> float:
    return statistics.median(function.lines for source in sources for function in source.functions)


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    product, others = read_sources(root, PRODUCT), read_sources(root, OTHERS)
    found = [line for source in product + others for line in too_long(source, root)]
    median = median_lines(product)
    if median > MAX_MEDIAN_LINES:
        found.append(f"the median of all functions is {median:g} lines, more than {MAX_MEDIAN_LINES}")
    for line in found:
        print(line)
    print(
        f"check_sizes: {len(product + others)} files, median function {median:g} lines, "
        f"{len(found)} violations"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
