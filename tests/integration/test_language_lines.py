# SPDX-License-Identifier: BSD-3-Clause
"""Each line of the fragment language's description has a program that runs and one that is refused.

What runs prints on 1, 2 and 3 ranks what the interpreter prints, byte for byte; what is refused has its exact
place, its code, and how to mend it. The lines are in language_lines.py; those of bodies, launcher, errors and
messages are in the tests that OTHERS names.
"""

import json
import re
import subprocess
from pathlib import Path

import pytest

from fragment_cache import common_cache
from language_lines import (
    BODIES,
    HEAD,
    LINES,
    REFUSED_CODES,
    RUN_CODES,
    SHORT,
    WARNED_CODES,
    WORDS,
    Refused,
    Runs,
)
from native import needs
from tailrace.console import CommandError
from tailrace.fragments.check import check_program
from tailrace.fragments.compile import Source, compile_source
from tailrace.fragments.compilers import find_compiler
from tailrace.fragments.functions import find_functions
from tailrace.fragments.lower import lower
from tailrace.programs import find_program
from test_language_check import REFUSED, WARNED
from test_language_verdicts import CASES

pytestmark = needs("tailrace-fragments")
ROOT = Path(__file__).resolve().parents[2]
RANKS = [1, 2, 3]
# What nobody writes has no fix that is known; where the base is written is said instead.
NOT_WRITTEN = "Nobody writes "
# A program of these is compiled by itself; the tests that OTHERS names have their forms compiled together.
ALONE = "D: "
ROWS = {f"{part}: {line}": programs for part, lines in LINES.items() for line, programs in lines.items()}

EACH_ROW = [pytest.param(row, marks=[pytest.mark.full] * row.startswith(ALONE)) for row in ROWS]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the bodies of HEAD, compiled once."""
    folder = tmp_path_factory.mktemp("lines")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("XDG_CACHE_HOME", common_cache(tmp_path_factory))
        patch.setenv("CXX_FLAGS", "-O0")
        Path("bodies.cpp").write_text(BODIES)
        names = re.findall(r"import \w+\(.*?\) as (\w+);", HEAD)
        Path("bodies.fa").write_text(HEAD + "sub main() nothing();\n")
        problems = compile_source(Source(Path("bodies.fa")), Path("bodies.so"))
        assert problems.errors == [] and len(names) == 9, problems.as_text()
        yield folder


def written(program: Runs | Refused) -> tuple[int, int]:
    """Writes p.fa and what it includes; how many lines, and columns, the text has moved."""
    for name, text in program.files.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    first = program.text.startswith("#!")
    short = "main" not in program.text
    text = SHORT.format(program.text) if short else program.text
    Path("p.fa").write_text(text + HEAD if first else HEAD + text)
    return 0 if first else 1, SHORT.index("{}") - 1 if short else 0


def words_of(text: str) -> list[str]:
    """The words for `main`: those of SHORT, or none."""
    if "main" not in text:
        return [*map(str, WORDS)]
    if "as main" in text:
        return [str(WORDS[0])]
    found = re.search(r"\bmain\((.*?)\)", text)
    return [*map(str, WORDS)][: found[1].count(" ") and found[1].count(",") + 1 if found else 0]


def started(how: list[str], program: str, bodies: Path, words: list[str]) -> subprocess.CompletedProcess:
    command = [find_program("tailrace-fragments"), *how, "--bodies", bodies, program, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def lowered(program: Runs | Refused) -> None:
    bound, problems = check_program(Path("p.fa"), getattr(program, "defines", ()))
    assert problems.errors == [], problems.as_text()
    Path("p.json").write_text(json.dumps(lower(bound)))


def everywhere(bodies: Path, words: list[str]) -> list[subprocess.CompletedProcess]:
    """The program by the interpreter, and on ranks."""
    ways = [["--interpret"], *(["--transport", f"local:{ranks}"] for ranks in RANKS)]
    return [started(how, "p.json", bodies, words) for how in ways]


@pytest.mark.parametrize("row", EACH_ROW)
def test_what_runs_runs_everywhere(row, place):
    programs = [one for one in ROWS[row] if isinstance(one, Runs)]
    assert programs
    for program in programs:
        written(program)
        bodies = bodies_of(program)
        lowered(program)
        for ended in everywhere(bodies, words_of(program.text)):
            assert ended.returncode == 0, ended
            assert sorted(ended.stdout.splitlines()) == sorted(program.out.split("|")), (program, ended)


@pytest.mark.parametrize("row", EACH_ROW)
def test_what_is_refused_says_where_and_how_to_mend_it(row, place):
    programs = [one for one in ROWS[row] if isinstance(one, Refused)]
    assert programs
    for program in programs:
        lines, columns = written(program)
        messages = running(program) if program.code.startswith("run") else checked(program)
        assert len(set(messages)) == 1, messages
        at = program.at
        if re.fullmatch(r"\d+:\d+", at):
            line, column = map(int, at.split(":"))
            at = f"p.fa:{line + lines}:{column + columns}"
        message = messages[0]
        code = program.code.removeprefix("run").strip()
        if at:
            assert message.startswith(f"{at}: error: "), (program, message)
        assert program.words in message and message.splitlines()[0].endswith(f"[{code}]" if code else ""), (
            message
        )
        assert "\n  Fix: " in message or NOT_WRITTEN in message or program.compiled, message


def checked(program: Refused) -> list[str]:
    if program.compiled:
        return [refusal_of_compiler()]
    bound, problems = check_program(Path("p.fa"), program.defines)
    if bound is not None and not problems.errors:
        find_functions(bound, [Path("bodies.cpp")], problems, find_compiler)
    assert len(problems.errors) == 1, (program, problems.as_text())
    return [problems.errors[0].as_text()]


def refusal_of_compiler() -> str:
    """The import that does not fit, or what the compiler says of a body."""
    try:
        problems = compile_source(Source(Path("p.fa")), Path("own.so"))
    except CommandError as error:
        lines = str(error).splitlines()
        first = next(number for number, line in enumerate(lines) if ": error: " in line)
        return "\n".join(lines[first:])
    (error,) = problems.errors
    return error.as_text()


def bodies_of(program: Runs | Refused) -> Path:
    """The shared object with the bodies of a program."""
    if not program.compiled:
        return Path("bodies.so")
    problems = compile_source(Source(Path("p.fa")), Path("own.so"))
    assert problems.errors == [], problems.as_text()
    return Path("own.so")


def running(program: Refused) -> list[str]:
    lowered(program)
    ended = everywhere(bodies_of(program), words_of(program.text))
    assert all(one.returncode == 3 for one in ended), (program, ended)
    return [one.stderr for one in ended]


def test_each_class_of_errors_has_a_program():
    of_lines = [one for programs in ROWS.values() for one in programs if isinstance(one, Refused)]
    before = {row[1] for row in REFUSED} | {one.code for one in of_lines}
    while_running = {code for case in CASES for code in re.findall(r"\[(S[\w.]+)\]$", case[2])}
    while_running |= {one.code.removeprefix("run ") for one in of_lines if one.code.startswith("run ")}
    assert set(REFUSED_CODES.split()) <= before
    assert set(RUN_CODES.split()) <= while_running
    assert {row[1] for row in WARNED} >= set(WARNED_CODES.split())


# The lines of bodies (D), the launcher (E), errors (F) and messages (G): the tests of what is accepted,
# and of what is refused or warned of.
BODY, COMPILE = "tests/integration/test_language_bodies.py", "python/tests/test_language_compile.py"
CHECK, VERDICTS = "python/tests/test_language_check.py", "tests/integration/test_language_verdicts.py"
OPTIONS, LUNA = "python/tests/test_luna_options.py", "tests/integration/test_luna.py"
BAD = "python/tests/test_language_bad_input.py"
EACH_CODE = f"{CHECK}::test_each_code_of_the_reference_has_a_program"
RUNNING = f"{VERDICTS}::test_errors_while_a_program_runs"
MEMBERS = [
    f"{BODY}::test_every_member_does_what_the_reference_says",
    f"{BODY}::test_a_wrong_use_is_named_with_its_place",
]
FORMS = [
    f"{COMPILE}::test_every_form_of_a_parameter_is_accepted",
    f"{COMPILE}::test_other_forms_are_refused_with_both_signatures_and_places",
]
OTHERS: dict[str, list[str]] = {
    "D: parameters and their types in C++": FORMS,
    "D: members of DF, InputDF and OutputDF": MEMBERS,
    "D: what a body leaves unset, and what it throws": [RUNNING],
    "D: an import and its function": [
        f"{COMPILE}::test_blocks_and_imported_functions",
        f"{COMPILE}::test_imports_are_checked_against_the_functions",
    ],
    "D: sources, headers, CXX and its flags": [
        f"{COMPILE}::test_functions_in_headers_and_of_macros_are_found",
        f"{BAD}::test_directories_that_are_none",
        f"{BAD}::test_the_compiler_is_no_compiler",
    ],
    "D: C++ that does not compile or link": [
        f"{COMPILE}::test_the_compiler_points_into_the_program",
        f"{BAD}::test_bodies_and_sources_that_do_not_compile",
        f"{BAD}::test_what_cannot_be_linked",
    ],
    "D: what bodies print": [
        "tests/integration/test_run_fragments.py::test_every_line_of_many_arrives_whole"
    ],
    "E: options": [f"{OPTIONS}::test_words", f"{OPTIONS}::test_what_is_refused"],
    "E: --help names each": [f"{OPTIONS}::test_help_names_every_option"],
    "E: what means nothing here": [f"{OPTIONS}::test_what_means_nothing_here_is_said_once"],
    "E: the environment": [f"{OPTIONS}::test_the_environment"],
    "E: --compile-only, -c, --no-cleanup": [
        f"{OPTIONS}::test_compile_only_says_what_goes_behind_mpirun",
        f"{OPTIONS}::test_only_what_was_made_is_removed_from_the_build_directory",
    ],
    "E: mpirun and rts": [
        f"{LUNA}::test_compiled_once_and_run_on_ranks_by_mpirun",
        f"{LUNA}::test_words_of_rts",
    ],
    "E: statuses and how messages begin": [
        f"{OPTIONS}::test_errors_begin_as_those_of_luna",
        f"{LUNA}::test_programs_that_fail",
    ],
    "F: errors and warnings before a run": [
        EACH_CODE,
        f"{CHECK}::test_programs_are_refused",
        f"{CHECK}::test_programs_are_warned_of",
    ],
    "F: SYN10, SYN12": [f"{COMPILE}::test_imports_are_checked_against_the_functions", FORMS[1]],
    "F: what is not known is no warning": [f"{CHECK}::test_what_is_not_known_is_not_complained_about"],
    "F: errors of a run": [RUNNING],
    "G: the form of a message, through includes and macros": [
        f"{CHECK}::test_a_message_in_full",
        f"{CHECK}::test_places_through_includes_and_macros",
    ],
    "G: calls, names here and there, verdicts": [RUNNING],
    "G: at most twenty": [f"{CHECK}::test_at_most_twenty_are_shown"],
    "G: once per job, also on seven ranks": [f"{VERDICTS}::test_four_kinds_of_programs_that_cannot_end_well"],
}


@pytest.mark.parametrize("line", OTHERS)
def test_other_lines_have_their_tests(line):
    for reference in OTHERS[line]:
        path, _, name = reference.partition("::")
        assert f"def {name}(" in (ROOT / path).read_text(), reference
