#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs LuNA's own tests and examples, from a checkout of LuNA, with Tailrace.

python scripts/luna_suite.py DIR [--only WORD] [--ranks 2,3] [--reference LUNA_HOME] [--repairs DIR]
                                 [--json FILE]

DIR has `tests`, where each directory with a `conf` is a test, and `examples`, where each program with a main
is one. A test's command runs as it is, with share/tailrace/luna/bin first on PATH, and is judged as its
`conf` says; a program that ends well runs again with `tailrace run` on other numbers of ranks, and has to
print the same lines, in any order. With a built LuNA as --reference the lines are also compared with its own.
--repairs has files that take the places of those of the same path in DIR; docs/howto/luna_outcomes.md says
which, and has the outcomes. Exit status 1 if anything differs without a known reason.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python" / "src"))
LUNA_HOME = ROOT / "share" / "tailrace" / "luna"
TIME_LIMIT_S = 300
TIMED_OUT = 124
# What main's parameters are given in examples, of which nothing says it: LuNA's makefile has these two words.
ARGUMENTS = ("anonymous", "turtle")
MAIN = re.compile(r"^\s*(?:C\+\+\s+)?sub(?:\s*<<[^>]*>>)?\s+main\s*\(([^)]*)\)", re.MULTILINE)
# What LuNA's launcher says of its steps on standard output, between what a program prints.
PROGRESS = re.compile(r"\x1b\[2K\r(?:luna: [^\n\x1b]*)?")
COMMENT = re.compile(r"`\w*|//[^\n]*|/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True)
class Program:
    """A test or an example: its directory below DIR, the command, and what its `conf` says of the answer."""

    name: str
    directory: Path
    command: str
    expected: dict[str, list[str]]


NAMES = (
    "the program prints names of data fragments, which LuNA has without -g as (df) and Tailrace as they are, "
    "such as A[0][1]"
)
ABORTS = "LuNA's debug build (-g) aborts at the end of a program that has run well; what its conf asks is met"
# Why these may differ.
REASONS = {
    "tests/00_new_tests/01_err_in_cpp": "LuNA counts lines and columns of C++ from 0; here from 1",
    "tests/01_luna_args/02_help_key": "the page of --help is in words of its own",
    "tests/03_integral/01_empty": "starts LuNA's own parser, a program that is not there",
    "examples/mxm/mxm.fa": NAMES,
    "tests/03_integral/06_mxm": NAMES,
    "tests/05_hang_detection/01_no_hang": ABORTS,
    "tests/05_hang_detection/02_ternary": ABORTS,
    "examples/tests_luna/zpic3d/test.fa": "its C++ does not compile, with LuNA neither: an undeclared "
    "variable in lib_mesh3d_codes.cpp:113",
}


@dataclass
class Outcome:
    name: str
    command: str
    differences: list[str] = field(default_factory=list)

    @property
    def reason(self) -> str:
        return REASONS.get(self.name, "") if self.differences else ""

    @property
    def as_line(self) -> str:
        reason = f" (expected: {self.reason})" if self.reason else ""
        return f"{self.name}: {'; '.join(self.differences) or 'same'}{reason}"


@dataclass(frozen=True)
class Answer:
    status: int
    out: str
    err: str

    @property
    def lines(self) -> Counter[str]:
        return Counter(self.out.splitlines())


def programs(root: Path) -> Iterator[Program]:
    for conf in sorted((root / "tests").rglob("conf")):
        expected = read_conf(conf)
        yield Program(str(conf.parent.relative_to(root)), conf.parent, expected["RUN"][0], expected)
    for path in sorted((root / "examples").rglob("*.fa")):
        if found := MAIN.search(COMMENT.sub(" ", path.read_text(errors="replace"))):
            count = len([one for one in found[1].split(",") if one.strip()])
            words = shlex.join(["luna", "-q", path.name, *arguments(count)])
            yield Program(str(path.relative_to(root)), path.parent, words, {"RETCODE": ["0"]})


def arguments(count: int) -> Sequence[str]:
    return ARGUMENTS if count == len(ARGUMENTS) else [""] * count


def read_conf(path: Path) -> dict[str, list[str]]:
    """The keys of a `conf`, each with its values."""
    found: dict[str, list[str]] = {}
    for line in path.read_text().splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            key, _, value = line.partition("=")
            found.setdefault(key.strip(), []).append(value.strip())
    return found


def run(command: Sequence[str] | str, directory: Path, home: Path = LUNA_HOME) -> Answer:
    """Runs a command of a test, or a list of words, with a launcher of LuNA's kind on PATH."""
    environment = os.environ | {"LUNA_HOME": str(home), "PATH": f"{home / 'bin'}:{os.environ['PATH']}"}
    words = command if isinstance(command, str) else list(command)
    how = {"cwd": directory, "env": environment, "shell": isinstance(words, str), "capture_output": True}
    try:
        done = subprocess.run(words, timeout=TIME_LIMIT_S, check=False, **how)
    except subprocess.TimeoutExpired as late:
        return Answer(TIMED_OUT, text_of(late.stdout), text_of(late.stderr))
    return Answer(done.returncode, text_of(done.stdout), text_of(done.stderr))


def text_of(raw: bytes | None) -> str:
    return (raw or b"").decode(errors="replace")


def judged(program: Program, answer: Answer, place: Path) -> list[str]:
    """What differs from a test's `conf`. CLEAN, files of LuNA's own log, is left out."""
    found = []
    if [str(answer.status)] != program.expected["RETCODE"]:
        found.append(f"exit status {answer.status}, not {program.expected['RETCODE'][0]}")
    for key, text in (("STDOUT", answer.out), ("STDERR", answer.err)):
        if f"{key}_EMPTY" in program.expected and text:
            found.append(f"{key} is not empty: {first_line(text)}")
        for name in program.expected.get(key, []):
            if Counter((place / name).read_text().splitlines()) != Counter(text.splitlines()):
                found.append(f"{key} is not {name}")
        for pattern in program.expected.get(f"{key}_MATCH", []):
            if not any(re.search(pattern, line) for line in text.split("\n")):
                found.append(f"no line of {key} matches {pattern}: {first_line(text)}")
    for command in program.expected.get("CHECK", []):
        if run(command, place).status != 0:
            found.append(f"{command} fails")
    return found


def first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "nothing")[:160]


def with_tailrace_run(command: str, ranks: int) -> list[str] | None:
    """The command of a test as one of `tailrace run`; None if it starts no program."""
    from tailrace.luna_options import LunaError, parse_words

    first, *words = shlex.split(command)
    try:
        request = parse_words(words, {})
    except LunaError:
        return None
    if first != "luna" or request.only_compiles or "--help" in words:
        return None
    options = [
        "-n",
        str(ranks),
        "-t",
        "2",
        "--oversubscribe",
        "--warnings",
        "off",
        "--no-report",
        "--as-luna",
    ]
    options += [word for one in request.defines for word in ("-D", one)] + ["-g"] * request.debug
    options += [f"--cpp-dir={request.cpp_dir}"] * bool(request.cpp_dir)
    options += [f"--cpp-source={request.cpp_source}"] * bool(request.cpp_source)
    return [str(ROOT / "tailrace"), "run", str(request.program), *options, "--", *request.arguments]


def copied(program: Program, root: Path, repairs: Path | None, place: Path) -> Path:
    """A copy of a program's directory, with what is repaired in it."""
    target = place / "program"
    shutil.copytree(program.directory, target)
    if repairs is not None:
        repaired = repairs / program.directory.relative_to(root)
        if repaired.is_dir():
            shutil.copytree(repaired, target, dirs_exist_ok=True)
    return target


def outcome_of(program: Program, root: Path, options: argparse.Namespace) -> Outcome:
    outcome = Outcome(program.name, program.command)
    with tempfile.TemporaryDirectory() as place:
        target = copied(program, root, options.repairs, Path(place))
        answer = run(program.command, target)
        outcome.differences += judged(program, answer, target)
        if program.expected["RETCODE"] != ["0"] or answer.status != 0:
            return outcome
        wanted = answer.lines
        if options.reference is not None:
            shutil.rmtree(target)
            theirs = run(
                program.command, copied(program, root, options.repairs, Path(place)), options.reference
            )
            theirs = replace(theirs, out=PROGRESS.sub("", theirs.out))
            outcome.differences += compared("LuNA itself", theirs, wanted)
        for ranks in options.ranks:
            words = with_tailrace_run(program.command, ranks)
            if words is not None:
                outcome.differences += compared(f"tailrace run -n {ranks}", run(words, target), wanted)
    return outcome


def compared(what: str, answer: Answer, wanted: Counter[str]) -> list[str]:
    if answer.status != 0:
        return [f"{what} ends with {answer.status}: {first_line(answer.err)}"]
    more, fewer = answer.lines - wanted, wanted - answer.lines
    if not more and not fewer:
        return []
    some = next(iter([*more, *fewer]))
    return [f"{what} prints {more.total()} other lines and lacks {fewer.total()}, such as {some[:80]!r}"]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=Path, metavar="DIR")
    parser.add_argument("--only", default="", help="programs whose names have this in them")
    parser.add_argument("--ranks", default="2,3", type=lambda text: [int(one) for one in text.split(",")])
    parser.add_argument("--reference", type=Path, help="a built LuNA, of which LUNA_HOME is this directory")
    parser.add_argument("--repairs", type=Path, help="files in the places of those of DIR")
    parser.add_argument("--json", type=Path, help="also write the outcomes to this file")
    options = parser.parse_args()
    root = options.directory.resolve()
    outcomes = []
    for program in programs(root):
        if options.only in program.name:
            outcomes.append(outcome_of(program, root, options))
            print(outcomes[-1].as_line, flush=True)
    if not outcomes:
        parser.error(f"{root} has no tests/**/conf and no program below examples that fits")
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(one) for one in outcomes], indent=2) + "\n")
    good = sum(not one.differences for one in outcomes)
    explained = sum(bool(one.reason) for one in outcomes)
    print(f"{good} of {len(outcomes)} same, {explained} differ for a known reason")
    return 0 if good + explained == len(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
