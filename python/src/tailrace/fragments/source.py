# SPDX-License-Identifier: BSD-3-Clause
"""Source files, places in them, and text that was made of them with a place for each of its characters."""

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from tailrace.console import CommandError, refused

# Characters that no program needs and that the passes use as marks.
MAX_CONTEXT = 10
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")


@dataclass(frozen=True, eq=False)
class SourceFile:
    """A file's text, under the name by which messages call it, with the place that included it."""

    name: str
    path: Path
    text: str = field(repr=False)
    included_from: "Place | None" = None

    @cached_property
    def line_starts(self) -> list[int]:
        starts = [0]
        while (end := self.text.find("\n", starts[-1])) >= 0:
            starts.append(end + 1)
        return starts

    def line_and_column(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line_text(self, line: int) -> str:
        start = self.line_starts[line - 1]
        end = self.text.find("\n", start)
        return self.text[start : end if end >= 0 else None]


@dataclass(frozen=True, eq=False)
class Macro:
    """A macro as it was defined; params is None for one that is used without brackets."""

    name: str
    params: tuple[str, ...] | None
    body: str
    defined_at: "Place"


class Place(NamedTuple):
    """A character that a user wrote, and the macros, outermost first, whose bodies brought the text there."""

    file: SourceFile
    offset: int
    macros: tuple[Macro, ...] = ()

    @property
    def line_and_column(self) -> tuple[int, int]:
        return self.file.line_and_column(self.offset)

    def __str__(self) -> str:
        line, column = self.line_and_column
        return f"{self.file.name}:{line}:{column}"

    @property
    def context(self) -> list[str]:
        """The lines of a message that say how the text came to be there."""
        lines = [f"in macro {macro.name}, defined at {macro.defined_at}" for macro in self.macros]
        above = self.file.included_from
        while above is not None and len(lines) < MAX_CONTEXT:
            lines.append(f"included from {above}")
            above = above.file.included_from
        return lines if above is None else [*lines, "..."]


@dataclass(frozen=True)
class Foreign:
    """The C++ text of a foreign block, and the place of its first character."""

    text: str
    place: Place


@dataclass
class Expanded:
    """What is left of a program after preprocessing.

    `text` holds a mark `\\x01NUMBER\\x01` for each foreign block, and `\\x02` for an unknown macro.
    `starts` are the offsets at which its segments begin, `origins` the place of each one's first character;
    the others follow it where `moves` is true and have the same place where it is not.
    """

    main: SourceFile
    text: str = ""
    starts: list[int] = field(default_factory=list)
    origins: list[Place] = field(default_factory=list)
    moves: list[bool] = field(default_factory=list)
    foreign: list[Foreign] = field(default_factory=list)
    # The program's own file and those that it includes.
    files: list[SourceFile] = field(default_factory=list)
    # A section reached the end of its file, so that what is behind it is missing.
    cut: bool = False

    def place(self, at: int) -> Place:
        """The place of the character at an offset in the text."""
        index = bisect_right(self.starts, at) - 1
        if index < 0:
            return Place(self.main, 0)
        origin = self.origins[index]
        if not self.moves[index]:
            return origin
        return Place(origin.file, origin.offset + at - self.starts[index], origin.macros)


def read_source(path: Path, name: str, included_from: Place | None = None) -> SourceFile:
    """Reads a file as UTF-8 without its byte order mark and with plain newlines, or says what is wrong."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise CommandError(refused(error)) from error
    return source_of(raw, path, name, included_from)


def source_of(raw: bytes, path: Path, name: str, included_from: Place | None = None) -> SourceFile:
    """The same for the bytes of a file."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The codec counts without the mark that it skipped.
        offset = error.start + 3 * raw.startswith(b"\xef\xbb\xbf")
        where = f"{name}:{raw.count(10, 0, offset) + 1}:{offset - raw.rfind(10, 0, offset)}"
        raise CommandError(
            f"{where}: error: byte {offset} of the file (0x{raw[offset]:02x}) is not UTF-8\n"
            "  Fix: save the file in UTF-8"
        ) from error
    file = SourceFile(name, path, text.replace("\r\n", "\n"), included_from)
    if found := CONTROL.search(file.text):
        what = f"{Place(file, found.start())}: error: control character U+{ord(found[0]):04X}"
        raise CommandError(f"{what}\n  Fix: remove it")
    return file
