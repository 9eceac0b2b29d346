# SPDX-License-Identifier: BSD-3-Clause
"""What the C++ compiler and the linker say of a program's C++, as problems at places that the user wrote.

In: a `Failure`, or the words of the linker; out: `Problem`s.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tailrace.fragments.compilers import INCLUDE
from tailrace.fragments.problems import Problem
from tailrace.fragments.source import Foreign, Place, SourceFile
from tailrace.fragments.units import Unit

CODE = "CXX"
VARIABLES = ("CXX_FLAGS", "LDFLAGS")
OF_COMPILER = "see what it said; CXX names the compiler, CXX_FLAGS its options"
MAX_NOTES = 5
MAX_LINES = 20
# What is said of a line of a file: `kind` is empty for how the compiler came to something.
SAID = re.compile(
    r"(?P<file>[^:]+):(?P<line>\d+):(?:(?P<column>\d+):)?\s+"
    r"(?:(?P<kind>fatal error|error|note|warning): (?P<text>.*)|(?:recursively )?required from.*)"
)
# What is said of no line, as of an option.
SAID_OF_NOTHING = re.compile(r"\S+: (?:fatal )?error: (?P<text>.*)")
SYSTEM = Path("/usr")

OBJECT = re.compile(r"[^\s:(]+\.o\b")
UNDEFINED = re.compile(r"undefined reference to [`'](?P<name>.+)'$")
SEVERAL = re.compile(r"multiple definition of [`'](?P<name>.+?)'; (?P<first>[^\s:(]+\.o)")
NO_LIBRARY = re.compile(r"cannot find (?P<name>-l\S+?):?(?:\s|$)")
LAST_WORD = re.compile(r"(\w+)(?:\[abi:\w+\])?(?:<.*>)?(?:\(.*)?$")
TO_DEFINE = (
    "define it in a *.cpp of the program's directory (or --cpp-dir, --cpp-source), or LDFLAGS=-lLIBRARY"
)


@dataclass
class Texts:
    """The files of a program, by the names that a compiler has for them."""

    files: dict[str, SourceFile | None]

    @classmethod
    def of(cls, files: Sequence[SourceFile], units: Sequence[Unit]) -> "Texts":
        written = [unit.written.place.file for unit in units]
        every = (*written, *files)
        return cls({name: file for file in every for name in (file.name, str(file.path.resolve()))})

    def place(self, file: str, line: int, column: int) -> Place | None:
        """A place in a file of the user's; compilers count the bytes of a line."""
        if file not in self.files:
            self.files[file] = file_of_user(file)
        found = self.files[file]
        if found is None or line > len(found.line_starts):
            return None
        before = found.line_text(line).encode()[: max(column - 1, 0)].decode(errors="ignore")
        return Place(found, found.line_starts[line - 1] + len(before))


def file_of_user(name: str) -> SourceFile | None:
    """A further header of the user's; None for those of the system and of ours, and for what is no file."""
    path = Path(name)
    if path.is_relative_to(SYSTEM) or any(path.resolve().is_relative_to(place) for place in INCLUDE):
        return None
    try:
        text = path.read_text(errors="replace")
    except OSError:
        return None
    here = Path.cwd()
    return SourceFile(str(path.relative_to(here) if path.is_relative_to(here) else path), path, text)


@dataclass
class Error:
    """An error of the compiler: its place, where that is a file of the user's, and what is said around it."""

    text: str
    place: Place | None = None
    causes: list[Place] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    fix: str = ""


def errors_of_compiler(unit: Unit, said: str, texts: Texts) -> list[Problem]:
    """All errors in what the compiler said of a unit; at least one."""
    found = list(errors_in(said, texts))
    if not found:
        lines = [line for line in said.splitlines() if line.strip()][-MAX_LINES:]
        found = [Error("the C++ compiler failed", notes=lines, fix=OF_COMPILER)]
    return [problem_of(unit, one) for one in found]


def problem_of(unit: Unit, error: Error) -> Problem:
    place = error.place or next(iter(error.causes), None) or place_of_flag(error.text) or place_of(unit)
    of_flags = place.file.name in VARIABLES
    fix = error.fix or f"mend {place.file.name if of_flags else f'the C++ of {unit.name}'}"
    return Problem(place, error.text, CODE, fix, tuple(error.notes[:MAX_NOTES]))


def errors_in(said: str, texts: Texts) -> Iterator[Error]:
    """Errors with the notes behind them."""
    open_error: Error | None = None
    causes: list[Place] = []
    for line in said.splitlines():
        if not (found := SAID.fullmatch(line)):
            if open_error is None and (words := SAID_OF_NOTHING.fullmatch(line)):
                yield Error(words["text"])
            continue
        place = texts.place(found["file"], int(found["line"]), int(found["column"] or 1))
        if found["kind"] in ("error", "fatal error"):
            if open_error is not None:
                yield open_error
            open_error = Error(found["text"], place, causes[::-1])
            causes = []
        elif found["kind"] is None and place is not None:
            causes.append(place)
        elif found["kind"] == "note" and open_error is not None and place is not None:
            open_error.causes.append(place)
            open_error.notes.append(f"{place}: {found['text']}")
    if open_error is not None:
        yield open_error


def place_of_flag(text: str) -> Place | None:
    """The place of an option of the user's that a message names."""
    for variable in VARIABLES:
        said = os.environ.get(variable, "")
        for word in sorted(said.split(), key=len, reverse=True):
            if word in text:
                return Place(SourceFile(variable, Path(), said), said.index(word))
    return None


def place_of(unit: Unit) -> Place:
    """Where the C++ of a unit begins."""
    return unit.written.place


def errors_of_linker(
    said: str, objects: Sequence[Path], units: Sequence[Unit], target: Path
) -> list[Problem]:
    """What the linker said of objects, each of which was made of a unit; at least one error."""
    owners = {str(path): unit for path, unit in zip(objects, units, strict=True)}
    found, unit = [], None
    for line in said.splitlines():
        named = [owners[word] for word in OBJECT.findall(line) if word in owners]
        if not SEVERAL.search(line):
            unit = next(iter(named), unit)
        if problem := of_line(line, unit, owners):
            found.append(problem)
    if not found:
        lines = [line for line in said.splitlines() if line.strip()][-MAX_LINES:]
        flags = os.environ.get("LDFLAGS", "")
        place = Place(SourceFile("LDFLAGS", Path(), flags), 0) if flags else place_of(units[-1])
        fix = "see what the linker said; its options are in LDFLAGS"
        found = [Problem(place, f"{target} cannot be linked", CODE, fix, tuple(lines))]
    return found


def of_line(line: str, unit: Unit | None, owners: dict[str, Unit]) -> Problem | None:
    """What a line of the linker says, if it is an error; `unit` is the one that it is about."""
    if (found := NO_LIBRARY.search(line)) and (place := place_of_flag(found["name"])):
        return Problem(place, f"cannot find {found['name']}", CODE, "install the library, or -L DIRECTORY")
    if unit is None:
        return None
    if found := UNDEFINED.search(line):
        name = found["name"]
        text = f"{name} is used here, but defined nowhere: undefined reference to `{name}'"
        return Problem(where_it_says(name, unit.written), text, CODE, TO_DEFINE)
    if (found := SEVERAL.search(line)) and (first := owners.get(found["first"])):
        name, place = found["name"], where_it_says(found["name"], unit.written)
        text = f"multiple definition of `{name}', first defined at {where_it_says(name, first.written)}"
        return Problem(place, text, CODE, "keep one of them, or declare them static")
    return None


def where_it_says(symbol: str, written: Foreign) -> Place:
    """Where C++ has the name of a symbol; its beginning where it has none."""
    word = LAST_WORD.search(symbol)
    found = re.search(rf"\b{word[1]}\b", written.text) if word else None
    if found is None or written.place.macros:
        return written.place
    return written.place._replace(offset=written.place.offset + found.start())
