# SPDX-License-Identifier: BSD-3-Clause
"""The examples of the language's pages are programs without errors."""

import re
from pathlib import Path

import pytest

from tailrace.fragments.check import check_program

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "fragment_language.md"
EXAMPLES = re.findall(r"```fragments\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_examples_are_accepted(tmp_path, number):
    (tmp_path / "p.fa").write_text(EXAMPLES[number])
    problems = check_program(tmp_path / "p.fa")[1]
    assert problems.errors == [], problems.as_text()


def test_there_are_examples():
    assert len(EXAMPLES) >= 5
