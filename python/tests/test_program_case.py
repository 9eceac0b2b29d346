# SPDX-License-Identifier: BSD-3-Clause
"""Case files of fragment programs: what their keys mean, and what is wrong with them."""

import re
from pathlib import Path

import pytest

import command
from tailrace.console import CommandError
from tailrace.program_case import KEYS, is_program_case, read_program_case

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "case_file.md"
CASE = """[case]
simulation = "fragments"
[program]
file = "p.fa"
arguments = [4, "two words", 0.5]
defines = ["N=3"]
cpp_dirs = ["a", "/b"]
cpp_sources = ["c.cpp"]
warnings = "off"
debug = true
unoptimised = true
[fragments]
balance = "steal"
live_fragments = 100
live_bytes = "1MB"
depth = 50
[checkpoint]
every = 1000
every_s = 0.5
[trace]
mode = "off"
"""


@pytest.fixture
def case(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("CXX", "/nonexistent/compiler")
    (tmp_path / "p.fa").write_text("sub main(int n) nope(n);\n")
    path = tmp_path / "case.toml"
    path.write_text(CASE)
    return path


def test_every_key(case):
    assert is_program_case(case)
    folder = case.parent
    assert read_program_case(case, ["fragments.depth=60"]) == {
        "case": folder / "p.fa",
        "arguments": ["4", "two words", "0.5"],
        "defines": ["N=3"],
        "cpp_directories": f"{folder / 'a'}:/b",
        "cpp_sources": str(folder / "c.cpp"),
        "warnings": "off",
        "debug": True,
        "unoptimised": True,
        "balance": "steal",
        "live_fragments": 100,
        "live_bytes": "1MB",
        "depth": 60,
        "checkpoint_every": 1000,
        "checkpoint_every_s": 0.5,
        "trace": "off",
    }


def test_every_key_is_in_the_reference():
    section = PAGE.read_text().split("## `fragments`")[1].split("\n## ")[0]
    named = set(re.findall(r"^\| `([a-z_.]+)`", section, re.MULTILINE))
    assert named == set(KEYS) - {"case.simulation", "case.title"}


WRONG = [
    ("program.fil=\"p.fa\"", "program.fil: is unknown. Did you mean program.file?"),
    ("program.file=\"p.f\"", 'program.file: "p.f": a program ends in .fa, .py, .so, .json'),
    ("program.file=3", "program.file: 3: text is needed"),
    ("program.arguments=3", "program.arguments: 3: a list is needed"),
    ("program.arguments=[true]", "texts and numbers are needed"),
    ("program.debug=1", "program.debug: 1: true or false is needed"),
    ("program.cpp_dirs=[\"a:b\"]", "a colon in a path is impossible here"),
    ("fragments.depth=0", "fragments.depth: 0: a whole number above 0 is needed"),
    ("fragments.depth=true", "fragments.depth: True: a whole number above 0 is needed"),
    ("checkpoint.every_s=\"1\"", "checkpoint.every_s: '1': a number is needed"),
    ("write=3", "write: is unknown"),
]  # fmt: skip


@pytest.mark.parametrize(("setting", "message"), WRONG)
def test_what_is_wrong(case, setting, message):
    with pytest.raises(CommandError, match=re.escape(message)) as raised:
        read_program_case(case, [setting])
    assert str(raised.value).startswith(f"{case}: ")


def test_all_problems_come_together(case):
    answer = command.tailrace("run", case, "--set", "fragments.depth=0", "--set", "program.x=1")
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.count(str(case)) == 2


def test_a_case_without_its_program(case):
    case.write_text('[case]\nsimulation = "fragments"\n')
    answer = command.tailrace("run", case)
    assert answer.status == 2 and "program.file: is missing. Fix: [program] file" in answer.err


def test_the_command_line_has_the_last_word(case, monkeypatch):
    monkeypatch.chdir(case.parent)
    no_sources = ["--set", "program.cpp_dirs=[]", "--set", "program.cpp_sources=[]"]
    answer = command.tailrace("run", "case.toml", *no_sources, "7")
    assert answer.status == 2 and "p.fa:1:17: error: unknown subroutine nope" in answer.err
    assert not Path("runs").exists()
    answer = command.tailrace("run", "case.toml", "--warnings", "nonsense", "--write", "threads")
    assert answer.status == 2 and answer.err.startswith("tailrace: --write: not for p.fa")


def test_other_commands_take_no_such_case(case):
    answer = command.tailrace("plan", case)
    assert (
        answer.status == 2
        and "is the case of a fragment program. Fix: start it with tailrace run" in answer.err
    )
