# SPDX-License-Identifier: BSD-3-Clause
"""The examples of the language's page: all are compiled, and print what their last lines say."""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

import command
from fragment_cache import common_cache
from native import needs
from tailrace.fragments.check import check_program
from tailrace.programs import find_program

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "fragment_language.md"
TEXT = PAGE.read_text()
EXAMPLES = re.findall(r"```fragments\n(.*?)```", TEXT, re.DOTALL)
BODIES = "\n".join(re.findall(r"```cpp\n(.*?)```", TEXT, re.DOTALL))
EXPECTED = re.compile(r"^// with (.*?): (.*)$", re.MULTILINE)
RANKS = 3
LIMIT_S = 60


def expected(example: str) -> list[tuple[list[str], list[str]]]:
    """The arguments of an example's runs and the lines that each prints."""
    return [
        (
            [] if words == "nothing" else shlex.split(words),
            [] if "nothing is" in lines else lines.split(" | "),
        )
        for words, lines in EXPECTED.findall(example)
    ]


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_examples_are_accepted(tmp_path, number):
    (tmp_path / "p.fa").write_text(EXAMPLES[number])
    problems = check_program(tmp_path / "p.fa")[1]
    assert problems.errors == problems.warnings == [], problems.as_text()


@needs("tailrace-fragments")
@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_examples_print_what_they_say(tmp_path, tmp_path_factory, number, monkeypatch):
    monkeypatch.setenv("CXX_FLAGS", "-O0")
    monkeypatch.setenv("XDG_CACHE_HOME", common_cache(tmp_path_factory))
    (tmp_path / "p.fa").write_text(EXAMPLES[number])
    if "import " in EXAMPLES[number]:
        (tmp_path / "bodies.cpp").write_text(BODIES)
    answer = command.tailrace("compile", tmp_path / "p.fa", "-o", tmp_path / "p.so", "--warnings", "off")
    assert (answer.status, answer.err) == (0, ""), answer
    runs = expected(EXAMPLES[number])
    assert runs
    native = [
        str(find_program("tailrace-fragments")),
        "--transport",
        f"local:{RANKS}",
        str(tmp_path / "p.so"),
    ]
    alone = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_COMM", "PMI"))}
    for words, lines in runs:
        done = subprocess.run(
            [*native, *words], capture_output=True, text=True, timeout=LIMIT_S, check=False, env=alone
        )
        assert (done.returncode, sorted(done.stdout.splitlines())) == (0, sorted(lines)), done


def test_there_are_examples():
    assert len(EXAMPLES) >= 11
