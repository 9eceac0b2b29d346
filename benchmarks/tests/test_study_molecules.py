# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace bench checkpoint --study molecules`: rows, pages and verdicts. Nothing here asserts a time."""

import json
from pathlib import Path

import pytest

from native import needs
from tailrace_bench import checkpoint, study_molecules, study_molecules_findings, study_molecules_page
from test_bench import command

ENDS = ("", "/over_needed", "/all_over_needed")
HERE = checkpoint.Place(Path(), flushed=True)


def found_with(**seconds: list[float]) -> dict:
    """What the program states two formats on two ranks, all samples one second unless stated otherwise."""
    names = ["plain/write", "plain/read"]
    for name in ("cells", "tailrace"):
        names += [f"{name}/write", f"{name}/handed"]
        names += [f"{name}/read/{count}{end}" for count in (2, 4) for end in ENDS]
    samples = {name: seconds.get(name, [1.0, 1.0]) for name in names}
    return {
        "molecules": 3_014_284,
        "state_bytes": 349_656_944,
        "bytes": {"cells": 349_657_016, "tailrace": 360_000_000},
        "samples": samples,
    }


def rows_of(**seconds: list[float]) -> list[dict]:
    found = found_with(**seconds)
    return [study_molecules.make_row(found, HERE, 2, [2, 4], name) for name in ("cells", "tailrace")]


def test_readers():
    assert study_molecules.readers_of(2, (1, 2, 4)) == [2, 4]
    assert study_molecules.readers_of(4, (1, 2, 4)) == [4, 1]
    assert study_molecules.readers_of(3, (3,)) == [3]


def test_formats_need_room(tmp_path, monkeypatch):
    formats = tuple(study_molecules.FORMATS)
    place = checkpoint.Place(tmp_path, flushed=False)
    monkeypatch.setattr(study_molecules, "available_memory_bytes", lambda: 2 << 30)
    assert study_molecules.formats_with_room(place, 1000, formats) == formats
    # Three million molecules, the plain file and a text file are more than two gigabytes.
    left = study_molecules.formats_with_room(place, 3_000_000, formats)
    assert "ascii" not in left and "tailrace" in left
    assert study_molecules.formats_with_room(place, 10**12, formats) == ()


def test_rates_and_verdicts():
    seconds = {
        "plain/write": [0.5, 0.5],
        "tailrace/write": [0.5, 0.5],
        "cells/write": [2.0, 2.0],
        "tailrace/read/4": [1.0, 2.0],
        "tailrace/read/2/over_needed": [1.05, 1.02],
        "tailrace/read/4/over_needed": [1.5, 1.2],
    }
    rows = rows_of(**seconds)
    assert rows[1]["plain_over_write"]["samples"] == [1.0, 1.0]
    assert rows[1]["reads"]["4"]["plain_over_read"]["samples"] == [1.0, 0.5]
    assert study_molecules_findings.verdicts(rows, "tailrace") == [
        "Aim, 90 % of the plain rate in writing: met (worst row 100%).",
        "Aim, 90 % of the plain rate in reading: missed (worst row 75%).",
        "Aim, each rank reads only what it needs: missed (worst row 1.50 times that).",
    ]
    text = study_molecules_findings.ours(rows, "tailrace")
    assert "written at 100 to 100 % of the plain rate and read at 75 to 100 %" in text
    assert "takes 4.0 to 4.0 times its time to write" in text
    assert study_molecules_findings.verdicts(rows[:1], "tailrace") == []
    sizes = study_molecules_page.size_table(rows)["rows"]
    assert sizes[0] == ["cells", "350 MB", "116.0", "0.53 GB"] and sizes[1][3] == ""


@pytest.mark.full
@needs("tailrace-bench-formats", "tailrace-bench-checkpoint")
def test_study_of_molecules(tmp_path):
    file, page = tmp_path / "study.json", tmp_path / "study.html"
    options = ["--molecules", "4000", "-n", "1", "-n", "2", "-n", "3", "--pairs", "1", "--dir", str(tmp_path)]
    done = command(
        "bench", "checkpoint", "--study", "molecules", *options, "--html", str(page), "--json", str(file)
    )
    assert done.returncode == 0, done.stderr
    assert "Aim, each rank reads only what it needs" in done.stdout and "over needed" in done.stdout
    found = json.loads(file.read_text())
    flushed = [row for row in found["rows"] if row["flushed"]]
    assert [(row["ranks"], row["format"]) for row in flushed] == [
        (ranks, name) for ranks in (1, 2, 3) for name in study_molecules.FORMATS
    ]
    assert len(found["headers"]) == 3 * len(checkpoint.HEADER_BYTES)
    records = {
        "ascii": 357,
        "binary": 116,
        "netcdf": 120,
        "cells": 116,
        "fine-cells": 116,
        "mpi-restart": 120,
    }
    for row in flushed:
        assert row["molecules"] == 4000 and row["state_bytes"] == 4000 * 116
        needed = records.get(row["format"], 116) * 4000
        assert needed - 4 <= row["bytes"] < 1.1 * needed + 65536
        assert list(row["reads"]) == [str(row["ranks"]), str(row["ranks"] % 3 + 1)]
        for read in row["reads"].values():
            assert read["read_over_needed"] >= read["all_read_over_needed"] >= 1
        assert 0 < row["handed_s"]["median"] <= row["write_s"]["median"]
    text = page.read_text()
    assert text.count('<section id="state-') == len(found["rows"]) // 21 and '<section id="header"' in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["study.html", "study.json"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--study", "heat"], "--study heat: unknown"),
        (["--study", "molecules", "--particles", "5"], "--particles has no meaning with --study"),
        (["--study", "molecules", "--format", "xml"], "--format xml: unknown"),
        (["--molecules", "5"], "--molecules has no meaning without --study molecules"),
    ],
)
def test_options_that_do_not_go_together(options, said):
    done = command("bench", "checkpoint", *options)
    assert done.returncode == 2 and said in done.stderr
