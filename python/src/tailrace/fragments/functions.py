# SPDX-License-Identifier: BSD-3-Clause
"""The C++ functions that a program imports: where each is defined, and its parameters as they are written.

In: `Bound` and the source files; out: a `Function` of each import.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tailrace.console import CommandError
from tailrace.cores import usable_cores
from tailrace.fragments import tree
from tailrace.fragments.compilers import Compiler
from tailrace.fragments.names import Bound
from tailrace.fragments.problems import Problems
from tailrace.fragments.source import Place, SourceFile

COMMENTS = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:[^"\\\n]|\\.)*")', re.DOTALL)
INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
BEFORE_BRACKET = re.compile(r"\b\w+(?=\s*\()")
# What follows the name of a function where it is defined.
DEFINITION = re.compile(r"\s*\(([^;{}]*)\)\s*(?:noexcept\s*)?\{")
# The place of an offset in a text.
Places = Callable[[int], Place]
# What the preprocessor of a C++ compiler says of where the next line comes from.
MARKER = re.compile(r'^# (\d+) "([^"\n]*)".*$', re.MULTILINE)


@dataclass(frozen=True)
class Function:
    """A C++ function: where its name is in a source, and its parameters as they are written there."""

    name: str
    source: Path
    place: Place
    params: str

    def __str__(self) -> str:
        return f"{self.name}({' '.join(self.params.split())})"


def find_functions(
    bound: Bound, sources: Sequence[Path], problems: Problems, compiler: Callable[[], Compiler]
) -> dict[tree.Import, Function]:
    """The C++ functions of all imports; those that are called and in no source are errors.

    Sources and what they include are read as text. Only what is not found so, because macros make it, is
    looked for in what the compiler's preprocessor makes of them.
    """
    wanted = [item for item in bound.program.items if isinstance(item, tree.Import)]
    found = look_up(wanted, written(sources))
    if left := [item for item in wanted if item.cpu and item not in found]:
        found |= look_up(left, preprocessed(sources, compiler))
    called = bound.called | {"main"}
    for item in wanted:
        if item not in found or not item.cpu:
            # LuNA's users keep imports of which they have not written the function.
            report = problems.error if item.name in called else problems.warn
            report(bound.expanded.place(item.at), *missing(item, sources))
    return {item: function for item, function in found.items() if item.cpu}


def missing(item: tree.Import, sources: Sequence[Path]) -> tuple[str, str, str]:
    """What is wrong with an import that has no function, the code, and what to do."""
    if not item.cpu:
        text = f"{item.function} runs on GPUs only (NOCPU), and this is a build without them"
        return text, "SYN10", "remove NOCPU, and have a C++ function"
    looked = f"looked in {', '.join(map(str, sources))}" if sources else "there is no *.cpp yet"
    fix = f"define it in a *.cpp beside the program, or name its source with --cpp-source; {looked}"
    return f"there is no C++ function {item.function}", "SYN10", fix


def look_up(
    wanted: Sequence[tree.Import], texts: Iterator[tuple[Path, str, Places]]
) -> dict[tree.Import, Function]:
    """Those of the imports that are defined in texts, each of which belongs to a source."""
    left = {item.function for item in wanted}
    functions: dict[str, Function] = {}
    for source, text, place_of in texts if left else ():
        for word in BEFORE_BRACKET.finditer(text):
            if word[0] not in left:
                continue
            if match := DEFINITION.match(text, word.end()):
                functions[word[0]] = Function(word[0], source, place_of(word.start()), match[1])
                left.remove(word[0])
    return {item: functions[item.function] for item in wanted if item.function in functions}


def written(sources: Sequence[Path]) -> Iterator[tuple[Path, str, Places]]:
    """Each source and the files that it includes beside it, as they are written, without comments."""
    for source in sources:
        for file in reached_from(source):
            yield source, file.text, lambda offset, file=file: Place(file, offset)


def reached_from(source: Path) -> Iterator[SourceFile]:
    """A source and the files that it includes beside it, and those that they do, without comments."""
    seen: set[Path] = set()
    left = [source]
    while left:
        path = left.pop(0)
        if path.resolve() in seen or not path.is_file():
            continue
        seen.add(path.resolve())
        file = SourceFile(str(path), path, without_comments(path.read_text(errors="replace")))
        yield file
        left += [path.parent / name for name in INCLUDED.findall(file.text)]


def without_comments(text: str) -> str:
    """A text with blanks for comments, so that everything else stays in its place."""
    return COMMENTS.sub(lambda found: found[1] or re.sub(r"[^\n]", " ", found[0]), text)


def preprocessed(
    sources: Sequence[Path], compiler: Callable[[], Compiler]
) -> Iterator[tuple[Path, str, Places]]:
    """What the preprocessor makes of each source; nothing where there is no compiler, or it refuses."""
    try:
        words = compiler()
    except CommandError:
        return
    with ThreadPoolExecutor(usable_cores()) as pool:
        made = pool.map(lambda source: words.run("-E", source).stdout, sources)
        for source, text in zip(sources, made, strict=True):
            yield source, text, MarkedText(text).place


class MarkedText:
    """What a preprocessor made, with the places that it says; it begins with one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.files: dict[Path, SourceFile] = {}

    @cached_property
    def markers(self) -> list[re.Match[str]]:
        return list(MARKER.finditer(self.text))

    def place(self, offset: int) -> Place:
        """The place in a file: the beginning of its line."""
        marker = self.markers[bisect_right(self.markers, offset, key=re.Match.start) - 1]
        path = Path(marker[2])
        if path not in self.files:
            self.files[path] = SourceFile(str(path), path, path.read_text(errors="replace"))
        starts = self.files[path].line_starts
        line = int(marker[1]) + self.text.count("\n", marker.end() + 1, offset)
        return Place(self.files[path], starts[min(line, len(starts)) - 1])
