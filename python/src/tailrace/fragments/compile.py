# SPDX-License-Identifier: BSD-3-Clause
"""From a checked program to the file that runs: the serialised form, alone or with the bodies."""

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from tailrace.casefile import PYTHON_PROGRAM
from tailrace.console import CommandError
from tailrace.fragments import tree
from tailrace.fragments.build import Builder, Failure, link
from tailrace.fragments.check import check_program
from tailrace.fragments.compilers import Compiler, find_compiler
from tailrace.fragments.cpp_messages import Texts, errors_of_compiler, errors_of_linker
from tailrace.fragments.folders import may_write, needed_folder
from tailrace.fragments.functions import find_functions, reached_from
from tailrace.fragments.graph_page import write_drawing
from tailrace.fragments.lower import lower
from tailrace.fragments.names import Bound
from tailrace.fragments.problems import Problem, Problems
from tailrace.fragments.units import TYPES, Unit, program_unit, units_of

WRONG_IMPORT = "SYN12"


@dataclass(frozen=True)
class Source:
    """A program with the options that say what it means and where its C++ is."""

    program: Path
    defines: Sequence[str] = ()
    warnings: str = "on"
    cpp_directories: str = ""
    cpp_sources: str = ""
    build_dir: Path | None = None
    """Where objects are kept; None: in the user's cache."""
    debug: bool = False
    optimises: bool = True
    last_counts: bool = False
    """As in LuNA, the last one counts of several subroutines of one name, and an imported function is called
    as the import says, whatever its parameters are. Otherwise these are errors.
    """
    shows_commands: bool = False
    run_options: Sequence[str] = ()
    """Options of the native program that are kept in what is compiled."""


def compile_source(source: Source, target: Path | None) -> Problems:
    """Checks a program and, if nothing is wrong with it, makes FILE.json or a shared object of it."""
    return compile_with_files(source, target)[0]


def compile_with_files(source: Source, target: Path | None) -> tuple[Problems, list[Path]]:
    """The same, with the files of the program and of its C++."""
    return compile_with_builder(source, target, partial(builder_of, source))


def compile_with_builder(
    source: Source, target: Path | None, builder: Callable[[], Builder]
) -> tuple[Problems, list[Path]]:
    """The same with what compiles, which is made when it is needed."""
    if target is not None:
        check_target(target)
    bound, problems = check_program(source.program, source.defines, source.last_counts)
    in_python = source.program.suffix == PYTHON_PROGRAM
    alone = in_python or (target is not None and target.suffix == ".json")
    if in_python:
        check_python_options(source, target)
    sources = [] if alone else sources_of(source.program, source.cpp_directories, source.cpp_sources)
    functions = {} if alone else find_functions(bound, sources, problems, partial(compiler_of, source))
    problems = problems.steered(source.warnings)
    read = [file.path for file in bound.expanded.files]
    read += [file.path for path in sources for file in reached_from(path)]
    if problems.errors or target is None:
        return problems, read
    check_sources_stay(target, read)
    if alone:
        write_document(lower(bound, source.run_options), target)
    else:
        program = program_unit(lower(bound, source.run_options), bound.expanded.main)
        found = Problems()
        build_object(bound, [*units_of(bound, functions, sources), program], target, found, builder())
        wrong_imports = [one for one in found.errors if one.code == WRONG_IMPORT]
        if source.last_counts and wrong_imports:
            forced = {item.name for item in functions if is_of(item, wrong_imports, bound)}
            found = Problems([], [replace(one, severity="warning") for one in wrong_imports])
            units = [*units_of(bound, functions, sources, forced), program]
            build_object(bound, units, target, found, builder())
        problems.errors += found.errors
        problems.warnings += found.warnings
    return problems, read


def check_target(target: Path) -> None:
    """Raises CommandError for a file that cannot be made."""
    if target.is_dir():
        raise CommandError(f"{target}: is a directory\n  Fix: -o FILE")
    if target.parent.is_dir() and not may_write(target.parent):
        raise CommandError(f"{target}: {target.parent} cannot be written\n  Fix: -o FILE elsewhere")


def check_sources_stay(target: Path, read: Sequence[Path]) -> None:
    """Raises CommandError for a target that is a file of the program."""
    if target.resolve() in {path.resolve() for path in read}:
        raise CommandError(f"{target}: the program is made of it\n  Fix: -o FILE elsewhere")


def check_python_options(source: Source, target: Path | None) -> None:
    """Raises CommandError for what a program in Python does not have."""
    if target is not None and target.suffix != ".json":
        raise CommandError(f"{target}: bodies in Python are in no shared object. Fix: -o FILE.json")
    given = {"-D": source.defines, "--cpp-dir": source.cpp_directories, "--cpp-source": source.cpp_sources}
    for option in (name for name, value in given.items() if value):
        raise CommandError(f"{option}: not for {source.program}: it is in Python.")


def is_of(item: tree.Import, errors: Sequence[Problem], bound: Bound) -> bool:
    """Whether one of these errors is that of an import."""
    place = bound.expanded.place(item.at)
    return any(one.place == place for one in errors)


def draw_source(source: Source, target: Path) -> Problems:
    """Checks a program and, if nothing is wrong with it, draws it."""
    bound, problems = check_program(source.program, source.defines, source.last_counts)
    problems = problems.steered(source.warnings)
    if not problems.errors:
        write_drawing(bound, target)
    return problems


def sources_of(program: Path, folders: str, files: str) -> list[Path]:
    """All C++ sources of the program's directory, or of others, and further files; with colons between."""
    places = [Path(name) for name in folders.split(":") if name] or [program.parent]
    further = [Path(name) for name in files.split(":") if name]
    for path in (*places, *further):
        if not path.exists():
            raise CommandError(
                f"{path}: there is no such file or directory\n  Fix: --cpp-dir A:B, --cpp-source F:G"
            )
    found = [source for place in places for source in sources_in(place)]
    return list(dict.fromkeys([*found, *further]))


def sources_in(folder: Path) -> list[Path]:
    """The C++ sources of a directory. Raises OSError for one that cannot be read."""
    return sorted(path for path in folder.iterdir() if path.suffix == ".cpp")


def write_document(document: dict, target: Path) -> None:
    """Makes the file at once as a whole."""
    with tempfile.TemporaryDirectory(dir=target.parent) as place:
        made = Path(place) / target.name
        made.write_text(json.dumps(document))
        made.replace(target)


def compiler_of(source: Source) -> Compiler:
    return find_compiler(source.debug, source.optimises, source.shows_commands)


def builder_of(source: Source) -> Builder:
    """Compiles as the options of a program say; objects are kept in its build directory, or in the cache."""
    folder = needed_folder("objects") if source.build_dir is None else source.build_dir / "objects"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"{folder}: {error.strerror}\n  Fix: --build-dir DIR") from error
    if not may_write(folder):
        raise CommandError(f"{folder}: cannot be written\n  Fix: --build-dir DIR")
    return Builder(folder, compiler_of(source))


def build_object(
    bound: Bound, units: Sequence[Unit], target: Path, problems: Problems, builder: Builder
) -> list[str]:
    """Builds the shared object; errors go to `problems`. Returns the names of compiled units."""
    objects, failures = builder.objects(units)
    texts = Texts.of(bound.expanded.files, units)
    for failure in failures:
        problems.errors += wrong_imports(bound, failure) or errors_of_compiler(
            failure.unit, failure.text, texts
        )
    if not failures and (said := link(builder.compiler, objects, target)):
        problems.errors += errors_of_linker(said, objects, units, target)
    problems.errors = list({(str(one.place), one.text): one for one in problems.errors}.values())
    builder.prune()
    return builder.compiled


def wrong_imports(bound: Bound, failure: Failure) -> list[Problem]:
    """Imports with another signature than the function's, by which a unit fails."""
    found = Problems()
    for item, function in failure.unit.imports:
        if item.name not in failure.wrong_imports:
            continue
        wanted = ", ".join(param.type for param in item.params)
        params = ", ".join(TYPES[param.type].strip() for param in item.params)
        text = f"the C++ function is {function}, the import {item.function}({wanted})"
        fix = f'extern "C" void {item.function}({params})'
        text += f". Declared at {function.place}."
        found.error(bound.expanded.place(item.at), text, WRONG_IMPORT, fix)
    return found.errors
