# SPDX-License-Identifier: BSD-3-Clause
"""All passes that need neither a compiler nor a run, in their order."""

import gc
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tailrace.casefile import PROGRAM_SOURCE, PYTHON_PROGRAM
from tailrace.fragments.names import Bound, bind
from tailrace.fragments.parse import parse
from tailrace.fragments.preprocess import preprocess
from tailrace.fragments.problems import Problems
from tailrace.fragments.ranges import check_ranges
from tailrace.fragments.source import Expanded, Place, SourceFile, read_source
from tailrace.fragments.tree import Program
from tailrace.fragments.types import check_types
from tailrace.fragments.usage import check_usage

# The passes descend into expressions, at most `build_tree.MAX_DEPTH` levels.
RECURSION = 20_000


@contextmanager
def no_collection() -> Iterator[None]:
    """The passes make many objects that stay: to look for garbage among them takes a fifth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def check_program(
    path: Path, defines: Sequence[str] = (), last_counts: bool = False
) -> tuple[Bound, Problems]:
    """Checks a program; raises CommandError for a file that cannot be read at all.

    With `last_counts` the last one of several subroutines of a name counts; otherwise they are an error.
    """
    if path.suffix == PYTHON_PROGRAM:
        return check_python(path)
    return check_source(read_source(path, str(path)), defines, last_counts)


def check_python(path: Path) -> tuple[Bound, Problems]:
    """Checks a program in Python, whose module is executed for that."""
    from tailrace.fragments.python_source import read_program  # only these need it

    program, text, problems = read_program(path)
    sys.setrecursionlimit(max(sys.getrecursionlimit(), RECURSION))
    with no_collection():
        return check_tree(program, text, problems, last_counts=False), problems


def check_source(
    source: SourceFile, defines: Sequence[str] = (), last_counts: bool = False
) -> tuple[Bound, Problems]:
    """Checks a program whose text is at hand, as an editor has it."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), RECURSION))
    with no_collection():
        return run_passes(source, defines, last_counts)


def run_passes(source: SourceFile, defines: Sequence[str], last_counts: bool) -> tuple[Bound, Problems]:
    problems = Problems()
    expanded = preprocess(source, defines, problems)
    if problems.errors and not expanded.text:
        return Bound(Program([], set()), expanded), problems
    program = parse(expanded, problems)
    if not program.items and not problems.errors:
        problems.error(
            Place(source, 0), "the program is empty", "SYN7", "sub main() { ... } is where it begins"
        )
        return Bound(program, expanded), problems
    return check_tree(program, expanded, problems, last_counts), problems


def syntax_problems(source: SourceFile, defines: Sequence[str] = ()) -> Problems:
    """What keeps the text of a file from being read as a program. Names that another file or `-D` may define
    do not, and a file that is no whole program may have any parts of one.
    """
    sys.setrecursionlimit(max(sys.getrecursionlimit(), RECURSION))
    problems = Problems()
    with no_collection():
        expanded = preprocess(source, defines, problems)
        if expanded.cut:
            return problems
        if source.path.suffix == PROGRAM_SOURCE:
            parse(expanded, problems)
    return Problems([one for one in problems.errors if one.code == "SYN"])


def check_tree(program: Program, expanded: Expanded, problems: Problems, last_counts: bool) -> Bound:
    """The passes behind the parser."""
    if problems.errors and not program.items:
        return Bound(program, expanded)
    bound = bind(program, expanded, problems, last_counts)
    check_types(bound, problems)
    if not problems.errors:
        check_usage(bound, problems)
        check_ranges(bound, problems)
    return bound
