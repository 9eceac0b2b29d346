# SPDX-License-Identifier: BSD-3-Clause
"""Case files: the reference page names the keys that the program knows, and [[output]] tables are written."""

import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import h5py
import numpy as np
import pytest

import jobs
from kwave_input import small_input
from tailrace import commit_mark
from tailrace.inspect import inspect_file, inspect_path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "case_file.md"
TABLES = ("any", "output", "ultrasound")
ORIGINS = {"p": [0, 0, 0], "ux": [0, 0, 5], "uy": [0, 5, 0], "uz": [5, 0, 0], "uz_non_staggered": [0, 0, 0]}
CASE = '[case]\nsimulation = "ultrasound"\n[input]\nfile = "in.h5"\n'


def documented() -> list[str]:
    """The keys of the page that ultrasound knows, from the tables that the script writes."""
    page = PAGE.read_text()
    tables = [re.search(f"<!-- keys of {name} -->(.*?)<!-- end -->", page, re.S)[1] for name in TABLES]
    return re.findall(r"^\| `([a-z]+\.[\w.]+)` \|", "".join(tables), re.M)


def test_the_page_is_current():
    script = PAGE.parents[2] / "scripts" / "case_page.py"
    words = [sys.executable, script, "--check", jobs.PROGRAM.parent]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def wrong_value(key: str) -> str:
    """None that a key takes: times are the only numbers with a fraction."""
    return "true" if key.endswith("_s") else "3.5"


def toml_line(key: str) -> str:
    return f"{key} = {wrong_value(key)}\n"


def run(tmp_path: Path, text: str, *options) -> jobs.Ended:
    small_input().write(tmp_path / "in.h5")
    (tmp_path / "case.toml").write_text(text)
    words = ["--case", tmp_path / "case.toml", "--out", tmp_path / "run", "--quiet", *options]
    return jobs.run(*words)


def test_the_page_names_every_key_that_the_program_knows(tmp_path):
    """A value of the wrong type is reported for each key of the page: a key that the program does not know
    would be reported as unknown.
    """
    keys = documented()
    assert len(keys) == len(set(keys)) > 40
    plain = [key for key in keys if not key.startswith("output.")]
    inner = [
        key.removeprefix("output.") for key in keys if key.startswith("output.") and ".select." not in key
    ]
    places = [key.removeprefix("output.") for key in keys if ".select." in key]
    text = (
        "".join(toml_line(key) for key in plain) + "[[output]]\n" + "".join(toml_line(key) for key in inner)
    )
    for place in places:
        text += f"[[output]]\n{toml_line(place)}"
    ended = run(tmp_path, text)
    assert ended.status == 2 and "unknown key" not in ended.err, ended
    for key in [*plain, *(f"output[0].{key}" for key in inner)]:
        assert f"{key}: {wrong_value(key)} is not" in ended.err, key
    for number, place in enumerate(places, 1):
        assert f"output[{number}].{place}: " in ended.err, place


def test_the_howto_shows_the_example():
    root = PAGE.parents[2]
    tables = (root / "examples" / "snapshots.toml").read_text().split("\n\n[[output]]")[1:]
    howto = (root / "docs" / "howto" / "outputs.md").read_text()
    assert len(tables) == 3
    for table in tables:
        assert textwrap.indent("[[output]]" + table.strip("\n"), "    ") in howto


def test_every_default_is_on_the_page(tmp_path):
    ended = run(tmp_path, CASE)
    assert ended.status == 0, ended
    config = json.loads((tmp_path / "run" / "run.json").read_text())["config"]
    keys = {f"{table}.{key}" for table, entries in config.items() for key in entries}
    assert keys <= set(documented())


def test_outputs_are_readable_and_inspected(tmp_path):
    tables = (
        '[[output]]\nname = "snap"\nquantity = "p"\nevery = 20\npml = "excluded"\n'
        '[[output]]\nname = "tips"\nquantity = "uz"\nat = [5, 60]\nselect = {points = [[1, 2, 3], '
        "[4, 5, 6]]}\n"
        '[[output]]\nname = "loud"\nquantity = "p"\nreduce = "max"\nselect = {plane = {y = 7}}\n'
    )
    ended = run(tmp_path, CASE + tables)
    assert ended.status == 0, ended
    with h5py.File(tmp_path / "run" / "output.h5") as file:
        assert "p" not in file  # no commit mark was asked for
        assert file["snap/values"].shape == (3, 12, 14, 18) and file["snap/step"][()].tolist() == [20, 40, 60]
        dt_s = file["dt"][0, 0, 0].astype(float)
        assert np.array_equal(file["snap/time_s"], dt_s * np.array([19, 39, 59]))
        assert file["tips/values"].shape == (2, 2) and file["loud/values"].shape == (1, 18, 1, 24)
        assert dict(file["loud"].attrs)["reduction"] == b"max" and file["loud/step"][0] == 60
        assert file["tips/points"][()].tolist() == [[1, 2, 3], [4, 5, 6]]
        rec = commit_mark.read(file)
        assert [
            commit_mark.complete_samples(file[f"{name}/values"], rec) for name in ("snap", "tips", "loud")
        ] == [
            3,
            2,
            1,
        ]
    entries = {entry.path: entry for entry in inspect_path(tmp_path / "run").file.datasets}
    assert entries["snap/values"].quantity == "pressure" and entries["snap/values"].unit == "Pa"
    assert entries["tips/values"].samples == entries["tips/values"].samples_stored == 2
    assert entries["loud/values"].reduction == "maximum"


def test_outputs_of_a_run_that_ended_early_report_their_samples(tmp_path):
    tables = (
        '[[output]]\nname = "snap"\nquantity = "p"\nevery = 10\ninitial = true\n'
        '[[output]]\nname = "loud"\nquantity = "p"\nreduce = "max"\n'
    )
    ended = run(tmp_path, CASE + tables, "--fault", "write:step=31", "--write", "blocking")
    assert ended.status == 3, ended
    with h5py.File(tmp_path / "run" / "output.h5") as file:
        rec = commit_mark.read(file)
        steps = file["snap/step"][()]
        assert steps.tolist() == [0, 10, 20, 30, 40, 50, 60]
        complete = commit_mark.complete_samples(file["snap/values"], rec)
        assert complete == (steps <= rec.steps).sum() and 1 <= complete < 7
        assert file["snap/values"][complete - 1].any() and not file["snap/values"][6].any()
        assert file["loud/step"][0] == 0 and commit_mark.complete_samples(file["loud/values"], rec) == 0


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ('name = "p_max"\nquantity = "p"\nevery = 1', ["output[0].name", '"p_max"', "choose another name"]),
        ('name = "Nx"\nquantity = "p"\nevery = 1', ["output[0].name", '"Nx"']),
        ('name = "a"\nquantity = "rho"\nevery = 1', ["output[0].quantity", '"rho"', "one of p, ux"]),
        ('name = "a"\nquantity = "p"\nat = [61]', ["output[0].at", "step 61", "60 steps"]),
    ],
)
def test_outputs_that_cannot_be_are_refused_before_anything_is_made(tmp_path, table, words):
    ended = run(tmp_path, f"{CASE}[[output]]\n{table}\n")
    assert ended.status == 2, ended
    for word in words:
        assert word in ended.err
    assert not (tmp_path / "run").exists()


def test_a_stream_that_may_be_dropped_outlives_failing_writes(tmp_path):
    text = CASE + '[[output]]\nname = "snap"\nquantity = "p"\nevery = 2\non_failure = "drop"\n'
    ended = run(tmp_path, text, "--write", "blocking", "--fault", "write:step=20,error=ENOSPC")
    assert ended.status == 0, ended
    reported = json.loads((tmp_path / "run" / "run.json").read_text())
    assert reported["status"] == "finished" and reported["per_rank"][0]["dropped_bytes"] > 0
    (warning,) = reported["warnings"]
    assert "were left out; /tailrace_dropped in the output file says" in warning
    assert any(
        "some from step 19 on are missing" in p for p in inspect_file(tmp_path / "run" / "output.h5").problems
    )
    with h5py.File(tmp_path / "run" / "output.h5") as file:
        assert commit_mark.read(file).dropped_from == 19
        assert file["snap/values"][8].any() and not file["snap/values"][9].any()


def test_viewers_are_told_where_staggered_fields_lie(tmp_path):
    """Half a cell of 0.1 mm further along their own axis; written z, y, x."""
    tables = "".join(f'[[output]]\nname = "of_{name}"\nquantity = "{name}"\nevery = 2\n' for name in ORIGINS)
    ended = run(tmp_path, CASE + "[time]\nsteps = 2\n" + tables)
    assert ended.status == 0, ended
    text = (tmp_path / "run/output.xdmf").read_text()
    found = re.findall(r'<Grid Name="of_(\w+)" GridType="Uniform">.*?Format="XML">([^<]*)<', text, re.S)
    assert {name: [round(1e5 * float(x)) for x in origin.split()] for name, origin in found} == ORIGINS
