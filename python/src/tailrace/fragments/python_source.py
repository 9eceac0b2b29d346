# SPDX-License-Identifier: BSD-3-Clause
"""The front end of programs in Python: a module becomes the tree of a program, and the passes check it as if
it had been parsed.
"""

import linecache
import sys
import traceback
from pathlib import Path
from types import ModuleType

from tailrace.console import CommandError
from tailrace.fragments import expressions, source, tree
from tailrace.fragments.expressions import ProgramError
from tailrace.fragments.problems import Problems
from tailrace.fragments.program import Program, described
from tailrace.fragments.source import Expanded, Foreign, SourceFile, read_source

MODULE = "tailrace_program"


class PythonText(Expanded):
    """Places of nodes are those of Python files."""

    def place(self, at: "int | expressions.Place") -> source.Place:
        """The place in its file; 0 is the beginning of the program."""
        if isinstance(at, int):
            return source.Place(self.main, 0)
        file = self.file_of(at.file)
        line = min(at.line, len(file.line_starts))
        before = file.line_text(line).encode()[: at.column - 1]
        return source.Place(file, file.line_starts[line - 1] + len(before.decode(errors="replace")))

    def file_of(self, name: str) -> SourceFile:
        for one in self.files:
            if one.name == name:
                return one
        self.files.append(read_source(Path(name), name))
        return self.files[-1]


def program_in(text: str, name: str) -> Program:
    """The program that a module holds; raises ProgramError and whatever the module raises."""
    module = ModuleType(MODULE)
    module.__file__ = name
    sys.modules[MODULE] = module  # what looks up its annotations, or is pickled, finds it
    folder = str(Path(name).absolute().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), module.__dict__)
    found = {id(one): one for one in vars(module).values() if isinstance(one, Program)}
    if len(found) != 1:
        what = "no Program" if not found else f"{len(found)} Programs"
        place = expressions.Place(name, 1, 1)
        raise ProgramError(place, f"the module has {what}", "SYN7", "program = Program(), once")
    return next(iter(found.values()))


def read_program(path: Path) -> tuple[tree.Program, PythonText, Problems]:
    """The tree of the program in a module, its texts, and what is wrong with its description."""
    problems = Problems()
    file = read_source(path, str(path))
    text = PythonText(file, files=[file])
    try:
        program = program_in(file.text, str(path))
        items = [described(sub) for sub in program.subs.values()]
    except ProgramError as error:
        problems.error(text.place(error.place), error.text, error.code, error.fix)
        return tree.Program([], set()), text, problems
    except Exception as error:
        raise CommandError(said(error, str(path))) from error
    for item in items:
        if isinstance(item, tree.PythonSub):
            item.body = len(text.foreign)
            text.foreign.append(Foreign(text_of(program, item.name), text.place(item.at)))
    return tree.Program(items, set()), text, problems


def text_of(program: Program, name: str) -> str:
    """The words of a body's function: those of parameters that it uses are among them."""
    code = program.functions[name].__code__
    used = [code.co_varnames[: code.co_argcount], code.co_names, code.co_cellvars]
    loaded = {one for one in used[0] if loads(code, one)}
    return " ".join(sorted(loaded | set(used[2])))


def loads(code: object, name: str) -> bool:
    """Whether a function looks at a variable of its own."""
    import dis

    return any(
        one.argval == name or (isinstance(one.argval, tuple) and name in one.argval)
        for one in dis.get_instructions(code)  # type: ignore[arg-type]
        if one.opname.startswith("LOAD")
    )


def said(error: Exception, name: str) -> str:
    """An exception that a module raises while it describes, with the innermost place in it."""
    text = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
    if isinstance(error, SyntaxError) and error.filename == name:
        return f"{name}:{error.lineno}:{error.offset or 1}: error: {text}"
    frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename == name]
    column = (frames[-1].colno or 0) + 1 if frames else 1
    return f"{name}:{frames[-1].lineno if frames else 1}:{column}: error: {text}"
