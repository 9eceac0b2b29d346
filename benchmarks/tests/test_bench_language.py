# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace bench language`: its programs, its account and its table. Nothing here asserts a time."""

from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from native import needs
from tailrace.fragments.check import check_program
from tailrace_bench import language, language_command, language_fragments
from test_bench import ENVIRONMENT


@pytest.mark.parametrize("lines", [300, 2_000])
def test_programs_have_their_length_and_no_errors(lines, tmp_path):
    path = language.write(tmp_path / "p.fa", language.program_of(lines))
    assert 0.9 * lines < path.read_text().count("\n") < 1.2 * lines
    assert check_program(path)[1].errors == []


@needs("tailrace-fragments", "tailrace-bench-fragments")
def test_all_rows(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", ENVIRONMENT["PYTHONPATH"])
    monkeypatch.setenv("CXX_FLAGS", "-O0")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "before"))
    monkeypatch.setattr(language, "BODIES", 4)
    small = {name: replace(kind, few=1, many=4) for name, kind in language_fragments.KINDS.items()}
    monkeypatch.setattr(language_fragments, "KINDS", small)
    document = language.measure(language.Request((200, 400), 1, tmp_path))
    names = [row["name"] for row in document["rows"]]
    assert len(names) == 7 and names[-1] == "compile, 1 of 4 bodies changed"
    assert document["rows"][1]["line_s"] > 0 and "the front end of that" in names
    assert all(row["wall_s"]["median"] > 0 for row in document["rows"])
    assert all(row["memory_bytes"]["median"] > 1e6 for row in document["rows"][:-2])
    assert Path(tmp_path).is_dir() and len(document["commands"]) >= 5
    console = Console(width=200, record=True)
    language_command.print_document(document, console)
    text = console.export_text()
    assert all(name in text for name in names)
    costs = document["fragments"]
    assert [(row["name"], row["ranks"]) for row in costs] == [
        (name, ranks) for name in language_fragments.KINDS for ranks in (1, 2)
    ]
    assert all(("over_c++" in row) == ("counted_ns" in row) == (row["ranks"] == 1) for row in costs)
    assert "matrix product" in text and "stencil" in text
    memory = document["memory"]
    assert all(64 < memory[key] < 10_000 for key in ("language_bytes", "c++_bytes")), memory
    assert f"{memory['language_bytes']:.0f} bytes in the language" in text and document["programs"] == []
