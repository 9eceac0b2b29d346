# SPDX-License-Identifier: BSD-3-Clause
"""The bodies of a program in Python at work on a rank, whose native program has an interpreter in it."""

import io
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tailrace.fragments.outputs import Name, NativeCall, array_in
from tailrace.fragments.program import Program, Subroutine
from tailrace.fragments.python_source import program_in


class Printed(io.TextIOBase):
    """Standard output that goes where that of the native program goes."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._write(text)
        return len(text)


def load(path: str, name: str, write: Callable[[str], None]) -> Callable[[NativeCall, str], str | None]:
    """Loads the module of a program, whose text is in the file `path` and which messages call `name`. Returns
    what runs a body: a function that returns what went wrong, or None.
    """
    sys.stdout = Printed(lambda text: None)  # what the module says it has said when it was checked
    program = program_in(Path(path).read_text(encoding="utf-8"), name)
    sys.stdout = Printed(write)
    return Bodies(program, name).run


class Bodies:
    """The bodies of a program by their names."""

    def __init__(self, program: Program, file: str) -> None:
        self.file = file
        self.subs = {name: sub for name, sub in program.subs.items() if name in program.functions}

    def run(self, call: NativeCall, name: str) -> str | None:
        try:
            run_body(self.subs[name], call)
        except BaseException as error:  # the native side says it, with the fragment's place
            return self.said(error)
        return None

    def said(self, error: BaseException) -> str:
        """The error with its place: the innermost one in the program's own file, if there is any."""
        text = "".join(traceback.format_exception_only(error)).strip().replace("\n", " ")
        frames = [one for one in traceback.extract_tb(error.__traceback__) if is_of_user(one.filename)]
        own = [one for one in frames if one.filename == self.file]
        places = [f"{one.filename}:{one.lineno}, in {one.name}" for one in (own[-1:] or frames[-1:])]
        return f"{text} ({places[0]})" if places else text


def is_of_user(file: str) -> bool:
    return Path(file).parent != Path(__file__).parent


def run_body(sub: Subroutine, call: NativeCall) -> None:
    """Hands the inputs over, and the outputs to be set."""
    arrays: list[tuple[int, Any]] = []
    arguments: list[Any] = []
    for number, (_, word) in enumerate(sub.params):
        if word == "name":
            arguments.append(Name(call, number, arrays))
            continue
        value = call.get(number)
        if value is None:  # a block
            value = array_in(call.bytes(number, word == "value &"))
            value.flags.writeable = word == "value &"
            arrays.append((number, value))
        arguments.append(value)
    if sub.function(*arguments) is not None:
        raise TypeError(f"{sub.name} returns a value. Fix: set outputs, parameters of type Name")
