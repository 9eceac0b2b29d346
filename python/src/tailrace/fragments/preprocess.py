# SPDX-License-Identifier: BSD-3-Clause
"""The preprocessor: strings, comments, directives, macros, includes and foreign blocks.

In: a file and definitions; out: `Expanded`.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tailrace.console import CommandError
from tailrace.fragments.problems import Problems
from tailrace.fragments.source import Expanded, Foreign, Macro, Place, SourceFile, read_source

MAX_INCLUDES = 64
MAX_MACROS = 200
# Macros that double their text are stopped here.
MAX_USES = 1_000_000
MAX_TEXT = 1 << 28

SECTION = re.compile(r'["`#$]|//|/\*')
STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
LINE = re.compile(r"(?:[^\n\\]|\\(?:.|$))*", re.DOTALL)
WORD = re.compile(r"[A-Za-z_0-9]*")
NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
DIRECTIVE = re.compile(r"#[ \t]*(\w*)[ \t]*", re.ASCII)
DEFINE = re.compile(r"([A-Za-z_]\w*)(?:\(([^()]*)\))?(?:\s+|$)(.*)", re.ASCII | re.DOTALL)
TERM = re.compile(r"\$\{<([^}]*)\}")
QUOTED = re.compile(r'"([^"\n]+)"')
COMMENTS = re.compile(r"/\*.*?\*/|//.*", re.DOTALL)
CONTINUED = re.compile(r"\\\n")


@dataclass(frozen=True)
class Passage:
    """Text to be scanned: a file's, a macro's body, or an argument.

    `offsets` has the place of each character in the file, or the one place that all of them have; None for a
    file, where they are their own.
    """

    text: str
    file: SourceFile
    offsets: Sequence[int] | int | None = None
    macros: tuple[Macro, ...] = ()
    arguments: dict[str, "Passage"] = field(default_factory=dict)

    def place(self, index: int) -> Place:
        if self.offsets is None:
            return Place(self.file, index)
        fixed = isinstance(self.offsets, int)
        return Place(self.file, self.offsets if fixed else self.offsets[index], self.macros)


@dataclass
class Condition:
    """An #ifdef that is open: is its part read, was it read from the outside, has it had its #else."""

    place: Place
    reads: bool
    outside: bool
    after_else: bool = False


def preprocess(main: SourceFile, defines: Sequence[str], problems: Problems) -> Expanded:
    """Expands a program; `defines` are `KEY` or `KEY=VALUE`."""
    reader = Reader(main, problems)
    for definition in defines:
        reader.define_from_command_line(definition)
    try:
        reader.read_file(main)
    except TooMuchError:
        return Expanded(main, cut=True)
    reader.warn_of_unused()
    reader.out.text = "".join(reader.texts)
    return reader.out


class TooMuchError(Exception):
    """The program grows without end; the error is reported already."""


class Reader:
    """The state of preprocessing: definitions, open conditions, and what has come out."""

    def __init__(self, main: SourceFile, problems: Problems) -> None:
        self.problems = problems
        self.out = Expanded(main)
        self.texts: list[str] = []
        self.length = 0
        self.uses = 0
        self.macros: dict[str, Macro] = {}
        self.used: set[str] = set()
        self.given: set[str] = set()
        self.circular: set[Macro] = set()
        self.conditions: list[Condition] = []
        self.depth = 0
        self.sections: dict[str, Callable[[Passage, int], int]] = {
            '"': self.string,
            "`": self.one_word_comment,
            "//": self.line_comment,
            "/*": self.comment,
            "#": self.directive,
            "$": self.dollar,
        }

    @property
    def reads(self) -> bool:
        return not self.conditions or self.conditions[-1].reads

    def define_from_command_line(self, definition: str) -> None:
        name, _, value = definition.partition("=")
        if not NAME.fullmatch(name):
            raise CommandError(f"-D {definition}: {name!r} is not a name\n  Fix: -D NAME or -D NAME=VALUE")
        line = SourceFile("command line", Path(), f"-D {definition}")
        if name in self.macros:
            raise CommandError(f"-D {definition}: {name} is defined twice")
        self.macros[name] = Macro(name, None, value, Place(line, 3))
        self.given.add(name)

    def warn_of_unused(self) -> None:
        for name in self.macros.keys() - self.used - self.given:
            self.problems.warn(
                self.macros[name].defined_at, f"macro {name} is never used", "SYN5.1", "remove it"
            )

    # The text that comes out.

    def emit(self, passage: Passage, start: int, end: int) -> None:
        if start >= end or not self.reads:
            return
        if passage.offsets is None or isinstance(passage.offsets, int):
            self.add(passage.text[start:end], passage.place(start), passage.offsets is None)
        else:
            for index in range(start, end):
                self.add(passage.text[index], passage.place(index), False)

    def add(self, text: str, origin: Place, moves: bool = False) -> None:
        self.out.starts.append(self.length)
        self.out.origins.append(origin)
        self.out.moves.append(moves)
        self.texts.append(text)
        self.length += len(text)
        if self.length > MAX_TEXT:
            self.too_much(origin, f"more than {MAX_TEXT >> 20} MiB of text")

    def too_much(self, place: Place, what: str) -> None:
        self.problems.error(
            place, f"the program expands to {what}", "PRE", "macros that use one another twice?"
        )
        raise TooMuchError

    # Files and passages.

    def read_file(self, file: SourceFile) -> None:
        self.out.files.append(file)
        before, self.conditions = self.conditions, []
        start = len(LINE.match(file.text)[0]) if file.text.startswith("#!") else 0
        self.scan(Passage(file.text, file), start)
        for condition in self.conditions:
            self.problems.error(condition.place, "this condition is never closed", "PRE", "add #endif")
        self.conditions = before

    def scan(self, passage: Passage, start: int = 0) -> None:
        while found := SECTION.search(passage.text, start):
            self.emit(passage, start, found.start())
            start = self.sections[found[0]](passage, found.start())
        self.emit(passage, start, len(passage.text))

    def unclosed(self, passage: Passage, start: int, what: str, fix: str) -> int:
        """Reports a section that reaches the end of its file, behind which nothing is left."""
        self.problems.error(passage.place(start), f"{what} reaches the end of the file", "PRE", fix)
        self.out.cut = True
        return len(passage.text)

    # Sections. Each takes the offset of its first character and returns the one behind its last.

    def string(self, passage: Passage, start: int) -> int:
        found = STRING.match(passage.text, start)
        if not found:
            return self.unclosed(passage, start, "a string", 'close it with "')
        self.emit(passage, start, found.end())
        return found.end()

    def one_word_comment(self, passage: Passage, start: int) -> int:
        self.blank(passage, start)
        return WORD.match(passage.text, start + 1).end()

    def line_comment(self, passage: Passage, start: int) -> int:
        self.blank(passage, start)
        return LINE.match(passage.text, start).end()

    def comment(self, passage: Passage, start: int) -> int:
        end = passage.text.find("*/", start + 2)
        if end < 0:
            return self.unclosed(passage, start, "a comment", "close it with */")
        self.blank(passage, start)
        return end + 2

    def blank(self, passage: Passage, start: int) -> None:
        """Keeps what is on both sides of a comment apart."""
        if self.reads:
            self.add(" ", passage.place(start))

    def directive(self, passage: Passage, start: int) -> int:
        place = passage.place(start)
        if passage.offsets is not None:
            self.problems.error(
                place, "a macro's text holds a directive", "PRE", "write directives in the file"
            )
            return len(passage.text)
        end = LINE.match(passage.text, start).end()
        if end == len(passage.text):
            return self.unclosed(passage, start, "a directive", "end the line with a newline")
        head = DIRECTIVE.match(passage.text, start)
        rest = passage.text[head.end() : end]
        known = {
            "define": self.define,
            "undef": self.undefine,
            "ifdef": self.if_defined,
            "ifndef": self.if_defined,
            "else": self.otherwise,
            "endif": self.end_condition,
            "include": self.include,
        }
        if head[1] in known:
            known[head[1]](Words(head[1], rest, place, Place(place.file, head.end())))
        else:
            words = [f"#{word}" for word in known]
            found = self.problems.nearest(f"#{head[1]}", words)
            self.problems.error(
                place, f"unknown directive #{head[1]}{found}", "PRE", f"one of {', '.join(words)}"
            )
        return end

    def dollar(self, passage: Passage, start: int) -> int:
        text = passage.text
        if text.startswith("${{", start):
            return self.foreign(passage, start, start + 3, "$}}")
        if found := TERM.match(text, start):
            return self.foreign(passage, start, found.end(), found[1])
        found = NAME.match(text, start + 1)
        if not self.reads:
            return start + 1
        if not found:
            fix = "$NAME uses a macro; ${{ begins a foreign block"
            self.problems.error(passage.place(start), "a $ without a name", "PRE", fix)
            return start + 1
        if found[0] in passage.arguments:
            self.scan(passage.arguments[found[0]])
            return found.end()
        return self.use(passage, start, found[0], found.end())

    def foreign(self, passage: Passage, start: int, first: int, term: str) -> int:
        end = passage.text.find(term, first) if term else -1
        if end < 0:
            return self.unclosed(passage, start, "a foreign block", f"close it with {term or 'a word'}")
        if self.reads:
            self.out.foreign.append(Foreign(passage.text[first:end], passage.place(min(first, end))))
            self.add(f"\x01{len(self.out.foreign) - 1}\x01", passage.place(start))
        return end + len(term)

    # Macros.

    def use(self, passage: Passage, start: int, name: str, end: int) -> int:
        place, macro = passage.place(start), self.macros.get(name)
        if macro is None:
            found = self.problems.nearest(name, list(self.macros))
            self.problems.error(
                place, f"unknown macro {name}{found}", "PRE", f"#define {name}, or -D {name}=VALUE"
            )
            self.add("\x02", place)
            return end
        self.used.add(name)
        arguments: list[Passage] = []
        if macro.params is not None:
            arguments, end = self.arguments(passage, macro, start, end)
        self.uses += 1
        if self.uses > MAX_USES:
            self.too_much(place, f"more than {MAX_USES} uses of macros")
        if self.may_expand(place, macro) and len(arguments) == len(macro.params or ()):
            given = dict(zip(macro.params or (), arguments, strict=True))
            macros = (*passage.macros, macro)
            self.scan(Passage(macro.body, passage.file, place.offset, macros, given))
        return end

    def may_expand(self, place: Place, macro: Macro) -> bool:
        known = macro in self.circular
        if not known and macro not in place.macros and len(place.macros) < MAX_MACROS:
            return True
        if not known:
            self.refuse(place, macro)
        self.add("\x02", place)
        return False

    def refuse(self, place: Place, macro: Macro) -> None:
        """Reports a macro that uses itself, once for all on its circle, or one that is nested too deeply."""
        if macro in place.macros:
            self.circular.update(place.macros[place.macros.index(macro) :])
            fix = f"leave ${macro.name} out of its own text, or out of that of a macro that it uses"
            self.problems.error(place, f"macro {macro.name} uses itself", "PRE", fix)
        else:
            self.problems.error(place, "macros are nested too deeply", "PRE", f"at most {MAX_MACROS} levels")

    def arguments(self, passage: Passage, macro: Macro, start: int, end: int) -> tuple[list[Passage], int]:
        """The arguments behind a macro's name; when they are not as they should be, an error and none."""
        wanted = f"{macro.name}({', '.join(macro.params)})"
        fix = f"${wanted}; write commas and brackets inside an argument with a backslash"
        found = split_arguments(passage, end) if passage.text.startswith("(", end) else None
        if found is None:
            self.problems.error(
                passage.place(start), f"macro {wanted} needs its arguments in brackets", "PRE", fix
            )
            self.add("\x02", passage.place(start))
            return [], end
        arguments, end = found
        if not macro.params and len(arguments) == 1 and not arguments[0].text.strip():
            arguments = []
        if len(arguments) != len(macro.params):
            counts = f"takes {len(macro.params)} arguments, got {len(arguments)}"
            self.problems.error(passage.place(start), f"macro {wanted} {counts}", "PRE", fix)
            self.add("\x02", passage.place(start))
        return arguments, end

    def define(self, words: "Words") -> None:
        if not self.reads:
            return
        found = DEFINE.fullmatch(words.rest)
        if not found:
            return self.malformed(words, "#define NAME body, or #define NAME(a, b) body")
        name, params, body = found.groups()
        listed = None if params is None else tuple(filter(None, (word.strip() for word in params.split(","))))
        if listed and not all(NAME.fullmatch(word) for word in listed):
            return self.malformed(words, "#define NAME(a, b) body")
        if name in self.macros:
            text = f"macro {name} is defined twice, first at {self.macros[name].defined_at}"
            return self.problems.error(words.at_rest, text, "PRE", f"#undef {name} first")
        self.macros[name] = Macro(name, listed, CONTINUED.sub(" ", body).strip(), words.at_rest)
        return None

    def malformed(self, words: "Words", fix: str) -> None:
        self.problems.error(words.place, f"#{words.name} is not well formed", "PRE", fix)

    def undefine(self, words: "Words") -> None:
        if self.reads and (name := self.only_name(words)):
            self.macros.pop(name, None)

    def only_name(self, words: "Words") -> str:
        if NAME.fullmatch(words.plain):
            return words.plain
        self.malformed(words, f"#{words.name} NAME")
        return ""

    # Conditions and includes.

    def if_defined(self, words: "Words") -> None:
        name = self.only_name(words) if self.reads else ""
        self.used.add(name)
        holds = (name in self.macros) == (words.name == "ifdef")
        self.conditions.append(Condition(words.place, self.reads and holds, self.reads))

    def otherwise(self, words: "Words") -> None:
        if self.bare(words):
            condition = self.conditions[-1]
            if condition.after_else:
                return self.problems.error(
                    words.place, "a second #else", "PRE", f"its #ifdef is {condition.place}"
                )
            condition.reads, condition.after_else = condition.outside and not condition.reads, True
        return None

    def end_condition(self, words: "Words") -> None:
        if self.bare(words):
            self.conditions.pop()

    def bare(self, words: "Words") -> bool:
        if words.plain:
            self.malformed(words, f"#{words.name} alone on its line")
        if not self.conditions:
            self.problems.error(
                words.place, f"#{words.name} without #ifdef", "PRE", "remove it, or add #ifdef NAME"
            )
        return bool(self.conditions)

    def include(self, words: "Words") -> None:
        if not self.reads:
            return
        found = QUOTED.fullmatch(words.plain)
        if not found:
            return self.malformed(words, '#include "path"')
        if self.depth >= MAX_INCLUDES:
            text = f"files include one another more than {MAX_INCLUDES} deep"
            self.problems.error(words.place, text, "PRE", "does a file include itself?")
            raise TooMuchError
        if (file := self.find(found[1], words)) is not None:
            self.depth += 1
            self.read_file(file)
            self.depth -= 1
        return None

    def find(self, path: str, words: "Words") -> SourceFile | None:
        beside = words.place.file.path.parent
        candidates = [beside / path, Path(path)]
        for candidate in candidates:
            if candidate.is_file():
                return read_source(candidate, str(candidate), words.place)
        looked = " and ".join(dict.fromkeys(str(one.parent) for one in candidates))
        self.problems.error(words.place, f"there is no file {path}", "PRE", f"looked in {looked}")
        return None


@dataclass(frozen=True)
class Words:
    """A directive: its name, what is behind it, and their places."""

    name: str
    rest: str
    place: Place
    at_rest: Place

    @property
    def plain(self) -> str:
        return COMMENTS.sub("", self.rest).strip()


def split_arguments(passage: Passage, start: int) -> tuple[list[Passage], int] | None:
    """The arguments in the brackets at `start`, and the offset behind them; None when they do not close."""
    text, kept, arguments, index = passage.text, [], [], start + 1
    while index < len(text):
        character = text[index]
        if character in ",)":
            arguments.append(argument(passage, kept))
            kept = []
            if character == ")":
                return arguments, index + 1
        elif character == "(":
            return None
        elif character == '"' and (string := STRING.match(text, index)):
            kept += range(index, string.end())
            index = string.end() - 1
        else:
            index += character == "\\" and text[index + 1 : index + 2] in tuple(",()\\")
            kept.append(index)
        index += 1
    return None


def argument(passage: Passage, kept: list[int]) -> Passage:
    """The characters of a passage at these offsets, without the blanks around them."""
    whole = "".join(passage.text[index] for index in kept)
    text, blanks = whole.strip(), len(whole) - len(whole.lstrip())
    kept = kept[blanks : blanks + len(text)]
    offsets = passage.offsets if isinstance(passage.offsets, int) else [passage.place(i).offset for i in kept]
    return Passage(text, passage.file, offsets, passage.macros, passage.arguments)
