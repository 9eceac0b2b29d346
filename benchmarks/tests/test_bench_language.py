# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace bench language`: its programs, its account and its table. Nothing here asserts a time."""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

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


def measured(tmp_path, monkeypatch, lines: tuple[int, ...], kinds: Collection[str]) -> dict[str, Any]:
    """A document of the smallest programs; numbers are positive where they cannot be noise."""
    monkeypatch.setenv("PYTHONPATH", ENVIRONMENT["PYTHONPATH"])
    monkeypatch.setenv("CXX_FLAGS", "-O0")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "before"))
    monkeypatch.setattr(language, "BODIES", 2)
    small = {name: replace(language_fragments.KINDS[name], few=1, many=4) for name in kinds}
    monkeypatch.setattr(language_fragments, "KINDS", small)
    document = language.measure(language.Request(lines, 1, tmp_path))
    rows = document["rows"]
    assert rows[-1]["name"] == "compile, 1 of 2 bodies changed"
    assert all(row["wall_s"]["median"] > 0 for row in rows)
    assert all(row["memory_bytes"]["median"] > 1e6 for row in rows if "memory_bytes" in row)
    assert [{"line_s", "line_bytes"} <= row.keys() for row in rows[: len(lines)]] == [
        False,
        *[True] * (len(lines) - 1),
    ]
    assert Path(tmp_path).is_dir() and len(document["commands"]) >= 3
    assert document["programs"] == []
    return document


def printed(document: dict[str, Any]) -> str:
    console = Console(width=200, record=True)
    language_command.print_document(document, console)
    text = console.export_text()
    assert all(row["name"] in text for row in [*document["rows"], *document["fragments"]])
    return text


@needs("tailrace-fragments", "tailrace-bench-fragments")
def test_rows_of_small_programs(tmp_path, monkeypatch):
    monkeypatch.setattr(language, "WARM_UP", 0)
    monkeypatch.setattr(language, "RANKS", (1,))
    # All C++ is compiled anew in some of these, which takes most of the time.
    monkeypatch.setattr(language, "measure_runs", lambda *_: [])
    document = measured(tmp_path, monkeypatch, (200,), ["chain"])
    (chain,) = document["fragments"]
    assert chain["name"] == "chain" and {"over_c++", "counted_ns", "language_ns"} <= chain.keys()
    memory = document["memory"]
    assert all(64 < memory[key] < 10_000 for key in ("language_bytes", "c++_bytes")), memory
    assert f"{memory['language_bytes']:.0f} bytes in the language" in printed(document)


def test_further_lines_are_priced_by_differences():
    rows = [
        {"name": name, "wall_s": {"median": seconds}, "memory_bytes": {"median": octets}}
        for name, seconds, octets in (("short", 1.0, 1e6), ("long", 3.0, 5e6))
    ]
    language.price_further_lines(rows, {"short": 100, "long": 500})
    assert rows[1]["line_s"] == 2 / 400 and rows[1]["line_bytes"] == 4e6 / 400
    assert "line_s" not in rows[0]


@pytest.mark.full
@needs("tailrace-fragments", "tailrace-bench-fragments")
def test_all_rows(tmp_path, monkeypatch):
    document = measured(tmp_path, monkeypatch, (200, 400), language_fragments.KINDS)
    assert [row["name"] for row in document["rows"][2:-1]] == [
        "run on 2 ranks, first, all C++ compiled",
        "run on 2 ranks, a body changed",
        "run on 2 ranks, again",
        "the front end of that",
    ]
    assert all("memory_bytes" in row for row in document["rows"][:-2])
    costs = document["fragments"]
    assert [(row["name"], row["ranks"]) for row in costs] == [
        (name, ranks) for name in language_fragments.KINDS for ranks in (1, 2)
    ]
    assert all(("over_c++" in row) == ("counted_ns" in row) == (row["ranks"] == 1) for row in costs)
    printed(document)
