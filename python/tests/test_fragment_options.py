# SPDX-License-Identifier: BSD-3-Clause
"""What `tailrace run PROGRAM.fa` refuses before anything is started."""

import json
from pathlib import Path

import pytest
import typer

import command
from tailrace import run_fragments
from tailrace.cli import build_app
from tailrace.fragments.record import problems_said

POWERS = Path(__file__).resolve().parents[2] / "examples" / "fragments" / "powers.fa"


@pytest.fixture(autouse=True)
def nothing_starts(monkeypatch, tmp_path):
    """Neither a C++ compiler nor a native program nor a cache is there."""
    monkeypatch.setenv("CXX", "/nonexistent/compiler")
    monkeypatch.setenv("TAILRACE_BIN_DIR", str(tmp_path / "nowhere"))
    monkeypatch.chdir(tmp_path)


def test_errors_of_the_source(tmp_path):
    Path("p.fa").write_text(POWERS.read_text().replace('show("first over 100:", x[big])', 'show("first")'))
    answer = command.tailrace("run", "p.fa", "-n", "2", "10")
    assert (answer.status, answer.out) == (2, "")
    assert (
        "error: show takes 2 arguments (string what, int v), got 1. Declared at p.fa:5:9. [SYN3]"
        in answer.err
    )
    assert answer.err == command.tailrace("compile", "--check", "p.fa").err


def test_errors_of_the_source_as_json():
    Path("p.fa").write_text(POWERS.read_text().replace('show("first over 100:", x[big])', 'show("first")'))
    answer = command.tailrace("run", "p.fa", "--json", "--out", "d", "10")
    account = json.loads(answer.out)
    assert (answer.status, account["status"], account["exit_status"]) == (2, "failed", 2)
    assert [(one["code"], one["line"]) for one in account["problems"]] == [("SYN3", 18)]
    assert account["reason"].startswith("p.fa:18:5: show takes 2 arguments")
    assert not Path("d").exists()


def test_messages_among_the_lines_of_a_program():
    said = ["hello", "p.fa:3:7: error: it fails [SEM1]", "at(x)", "^ needs x", "  x is here"]
    said += ["p.fa:9:1: error: b", "b();", "said by a body", "  indented", "no:1: error: c"]
    first, second = problems_said(said)
    assert first == {"file": "p.fa", "line": 3, "column": 7, "severity": "error", "text": "it fails",
                     "code": "SEM1", "notes": ["at(x)", "^ needs x", "  x is here"]}  # fmt: skip
    assert (second["text"], second["code"], second["notes"]) == ("b", "", ["b();"])


def test_macros_and_warnings_are_those_of_compile():
    Path("p.fa").write_text("#ifdef WRONG\nsub main() nope();\n#endif\nC++ sub one(name r) ${{ r = 1; $}}\n")
    answer = command.tailrace("run", "p.fa", "-D", "WRONG")
    assert (answer.status, answer.out) == (2, "")
    assert "unknown subroutine nope" in answer.err
    Path("q.fa").write_text("C++ sub one(name r) ${{ r = 1; $}}\nsub main() { df x; one(x); }\n")
    assert "[SEM4]" in command.tailrace("run", "q.fa", "--warnings", "error").err


def run_options() -> dict[str, str]:
    """All options of `tailrace run`: name in Python -> as it is written."""
    run = typer.main.get_command(build_app(["run"])).commands["run"]
    return {one.name: max(one.opts, key=len) for one in run.params if one.param_type_name == "option"}


def test_every_option_is_known_or_refused_with_a_reason():
    known = run_fragments.COMMON_OPTIONS | run_fragments.SOURCE_OPTIONS
    assert set(run_options()) - known - {"help"} == set(run_fragments.REASONS)


@pytest.mark.parametrize("name", sorted(run_fragments.REASONS))
def test_options_without_a_meaning(name):
    option = run_options()[name]
    flags = {"allow_outside"}
    answer = command.tailrace("run", POWERS, option, *([] if name in flags else ["3"]), "10")
    assert (answer.status, answer.out) == (2, "")
    assert answer.err == f"tailrace: {option}: not for {POWERS}: {run_fragments.REASONS[name]}.\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.fa"], "none.fa: there is no such program"),
        (["p.so", "-D", "X"], "-D: not for p.so: it is compiled already"),
        (["p.json", "--cpp-dir", "."], "--cpp-dir: not for p.json: it is compiled already"),
        ([POWERS, "--bind", "no"], "--bind no: unknown"),
        ([POWERS, "10"], "the C++ compiler /nonexistent/compiler cannot be started"),
        (["heat:A", "word"], "ARG: not for heat:A: only a program of the fragment language has it"),
        (["heat:A", "-D", "X"], "-D: not for heat:A"),
    ],
)
def test_one_message(words, message):
    answer = command.tailrace("run", *words)
    assert (answer.status, answer.out) == (2, "")
    assert message in answer.err


def test_reasons_are_sentences():
    assert not [reason for reason in run_fragments.REASONS.values() if reason.startswith("Fix")]


@pytest.mark.parametrize("words", [["fragments"], ["fragments", "--schema"], ["checkpoint"]])
def test_programs_that_are_no_simulation_have_no_template(words):
    answer = command.tailrace("case", *words)
    said = (
        "has few keys, and no template. Fix: " if words[0] == "fragments" else "no simulation has this name"
    )
    assert (answer.status, answer.out) == (2, "") and answer.err.count("\n") == 1
    assert answer.err.startswith(f"tailrace: tailrace case {words[0]}: ") and said in answer.err


def test_other_commands_take_no_programs():
    answer = command.tailrace("plan", POWERS)
    assert (answer.status, answer.out) == (2, "")
    assert "a fragment program is no case. Fix: start it with tailrace run" in answer.err


def test_the_wrapper_is_asked_to_build_the_native_program(tmp_path, monkeypatch):
    Path("p.fa").write_text("sub main() { for i = 1..2 nothing(); }\nsub nothing() { if 0 nothing(); }\n")
    assert command.tailrace("compile", "p.fa", "-o", "p.json", "--warnings", "off").status == 0
    builder = tmp_path / "builder"
    builder.write_text('#!/bin/sh\necho "$@"\nexit 7\n')
    builder.chmod(0o755)
    monkeypatch.delenv("TAILRACE_BIN_DIR")
    monkeypatch.setenv("TAILRACE_BUILDER", str(builder))
    answer = command.process("run", "p.json")
    assert (answer.status, answer.out) == (7, "--build tailrace-fragments\n"), answer
