# SPDX-License-Identifier: BSD-3-Clause
"""tests/integration/toy_sim: a simulation in less than 80 lines has all that the others have."""

import json
import os
import shutil
import subprocess
import tomllib
from pathlib import Path

import h5py
import numpy as np
import pytest

import jobs

SOURCE = Path(__file__).parent / "toy_sim" / "toy_sim.cpp"
DIRECTORY = jobs.REHEARSE.parent.parent / "toy"
CASE = """[case]
simulation = "toy"
[toy]
rate = 0.5
[[output]]
name = "all"
quantity = "height"
every = 10
[checkpoint]
every = 20
keep = 9
"""


def tailrace(*words, where: Path) -> subprocess.CompletedProcess:
    environment = os.environ | jobs.environment("toy") | {"TAILRACE_BIN_DIR": str(DIRECTORY)}
    environment["PYTHONPATH"] = str(jobs.SOURCE)
    return subprocess.run(
        [*jobs.TAILRACE, *map(str, words)],
        cwd=where, env=environment, capture_output=True, text=True, check=False, timeout=jobs.LIMIT_S,
    )  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A directory with the case and the directory of its run."""
    if not (DIRECTORY / "tailrace-toy").is_file():
        pytest.skip("the programs are not in a build directory")
    path = tmp_path_factory.mktemp("toy")
    (path / "case.toml").write_text(CASE)
    done = tailrace("run", "case.toml", "-n", 2, "--out", "run", where=path)
    assert done.returncode == 0, done
    return path


def test_less_than_80_lines():
    assert len(SOURCE.read_text().splitlines()) < 80


def test_it_runs_and_is_reported(place):
    with h5py.File(place / "run" / "output.h5") as file:
        values = file["all/values"][()]
        assert file["Nt"][0] == file["t_index"][0] == 40
    rates = 0.5 * np.arange(1, 121).reshape(4, 5, 6)
    assert np.allclose(values, np.array([10, 20, 30, 40])[:, None, None, None] * rates)
    done = tailrace("inspect", "run", where=place)
    assert done.returncode == 0 and "recorded  40 of 40 steps" in done.stdout, done
    assert tailrace("report", "run", where=place).returncode == 0
    assert "height" in (place / "run" / "report.html").read_text()


def test_it_resumes_on_other_ranks(place, tmp_path):
    shutil.copytree(place / "run", tmp_path / "run")
    shutil.copy(place / "case.toml", tmp_path)
    (tmp_path / "run" / "run.json").unlink()  # as if it had been killed after step 20
    shutil.rmtree(tmp_path / "run" / "checkpoints" / "step-000000000040", ignore_errors=True)
    start = json.loads((tmp_path / "run" / "start.json").read_text())
    (tmp_path / "run" / "start.json").write_text(json.dumps(start | {"directory": str(tmp_path)}))
    done = tailrace("resume", "run", "-n", 3, where=tmp_path)
    assert done.returncode == 0, done
    assert jobs.account(tmp_path / "run")["resumed_from"] == 20
    expected, found = (jobs.read_datasets(path / "run" / "output.h5") for path in (place, tmp_path))
    assert found["all/values"].tobytes() == expected["all/values"].tobytes()


def test_old_results_stay(place):
    before = (place / "run" / "output.h5").read_bytes()
    words = ["--case", "case.toml", "--out", "run"]
    done = subprocess.run(
        [DIRECTORY / "tailrace-toy", *words], cwd=place, env=os.environ | jobs.environment("toy"),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (
        done.returncode == 2 and "run: the run directory exists. Fix: choose another --out" in done.stderr
    ), done
    assert (place / "run" / "output.h5").read_bytes() == before


def test_its_case_is_stated_once(place):
    done = tailrace("case", "toy", where=place)
    assert done.returncode == 0, done
    assert tomllib.loads(done.stdout) == {"case": {"simulation": "toy"}, "toy": {"rate": 0.5}}
    (place / "template.toml").write_text(done.stdout)
    check = tailrace("run", "template.toml", "--out", "templated", where=place)
    assert check.returncode == 0, check
    reported = jobs.account(place / "templated")["config"]
    assert reported["domain"]["cells"] == [6, 5, 4] and reported["time"]["steps"] == 40
    schema = json.loads(tailrace("case", "toy", "--schema", where=place).stdout)
    rate = schema["properties"]["toy"]["properties"]["rate"]
    assert (rate["type"], rate["minimum"], rate["maximum"]) == ("number", 0, 10)
    assert schema["properties"]["toy"]["required"] == ["rate"]
    wrong = tailrace(
        "run", "case.toml", "--set", "toy.rate=11", "--set", "toy.rte=1", "--out", "x", where=place
    )
    assert wrong.returncode == 2, wrong
    assert "toy.rate: 11 is not accepted. Fix: a number from 0 to 10" in wrong.stderr
    assert "toy.rte: unknown key. Fix: did you mean toy.rate?" in wrong.stderr
