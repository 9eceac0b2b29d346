# SPDX-License-Identifier: BSD-3-Clause
"""The helper for k-wave-python without the package: a stand-in that downloads on import, and plain arrays."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tailrace import kwave_python
from tailrace.console import CommandError

PACKAGE = '''
"""As the package: its binaries are looked for, and fetched, by the last statement."""
__version__ = "0.6.2"


def binaries_present():
    raise RuntimeError("looked for binaries")


def install_binaries():
    raise RuntimeError("downloaded")


if not binaries_present():
    install_binaries()
'''


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """A package like k-wave-python, forgotten afterwards."""
    directory = tmp_path / "packages/kwave"
    directory.mkdir(parents=True)
    (directory / "__init__.py").write_text(PACKAGE)
    (directory / "part.py").write_text("import cv2\nvalue = 3\n")
    monkeypatch.syspath_prepend(directory.parent)
    # As on a machine where OpenCV cannot be loaded: half of the real one, left behind, would spoil imports.
    monkeypatch.setitem(sys.modules, "cv2", None)
    for name in ("kwave", "kwave.part"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield directory
    for name in ("kwave", "kwave.part"):
        sys.modules.pop(name, None)


def test_import_downloads_nothing(stand_in):
    before = sorted(stand_in.rglob("*.*"))
    module = kwave_python.import_kwave()
    assert module.__version__ == "0.6.2"
    assert kwave_python.import_kwave() is module
    import kwave.part  # the stand-in's

    assert kwave.part.value == 3
    assert [path for path in sorted(stand_in.rglob("*.*")) if "__pycache__" not in path.parts] == before


def test_failing_import_leaves_nothing_behind(stand_in):
    (stand_in / "__init__.py").write_text("raise ValueError('broken')\n")
    with pytest.raises(ValueError, match="broken"):
        kwave_python.import_kwave()
    assert "kwave" not in sys.modules


def test_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(kwave_python.importlib.util, "find_spec", lambda name: None)
    monkeypatch.delitem(sys.modules, "kwave", raising=False)
    with pytest.raises(CommandError, match="pip install k-wave-python"):
        kwave_python.import_kwave()


@pytest.fixture
def program(tmp_path, monkeypatch) -> Path:
    """A program that says how it was started, and an mpirun that starts one rank."""
    directory = tmp_path / "bin"
    directory.mkdir()
    tools = {
        "tailrace-ultrasound": 'echo "$OMP_NUM_THREADS|${OMP_PLACES-unset}|$*"',
        "mpirun": 'while [ "$1" != -n ]; do shift; done; echo "ranks $2"; shift 2; exec "$@"',
    }
    for name, body in tools.items():
        (directory / name).write_text(f"#!/bin/sh\n{body}\n")
        (directory / name).chmod(0o755)
    monkeypatch.setenv("TAILRACE_BIN_DIR", str(directory))
    monkeypatch.setenv("PATH", f"{directory}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return directory / "tailrace-ultrasound"


def test_one_rank_is_the_program_itself(program):
    assert kwave_python.binary() == program


@pytest.mark.parametrize(
    ("asked", "threads"), [(["-t", "8"], 4), (["-t", "1"], 1), (["-t", "7", "-s", "3"], 3)]
)
def test_ranks_share_the_threads(program, asked, threads, monkeypatch):
    monkeypatch.setenv("OMP_PLACES", "cores")
    script = kwave_python.binary(ranks=2)
    assert script == kwave_python.binary(ranks=2) != kwave_python.binary(ranks=3)
    words = ["-i", "a file.h5", *asked, "--p_max"]
    done = subprocess.run([script, *words], capture_output=True, text=True, check=True)
    kept = ["-i", "a file.h5", *asked[2:], "--p_max", "-t", str(threads)]
    assert done.stdout == f"ranks 2\n{threads}|unset|{' '.join(kept)}\n"


def test_without_a_wish_the_ranks_share_all_cores(program):
    done = subprocess.run(
        [kwave_python.binary(ranks=1000), "-i", "x"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "ranks 1000\n1|unset|-i x -t 1\n"


def test_script_that_cannot_be_written(program, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(CommandError, match=r"cannot be written.*XDG_CACHE_HOME"):
        kwave_python.binary(ranks=2)
    with pytest.raises(CommandError, match="at least 1"):
        kwave_python.binary(ranks=0)


MASK = np.zeros((3, 4), dtype=bool)
MASK[0, 1] = MASK[0, 3] = MASK[2, 0] = MASK[2, 3] = True
# By mask.ravel(): (0, 1), (0, 3), (2, 0), (2, 3); in a file, x fastest: (2, 0), (0, 1), (0, 3), (2, 3).
PLACES = [1, 2, 0, 3]


def as_returned(series: np.ndarray) -> dict:
    """What the package makes of a (point, time) series: (time, point) in the order of the file."""
    in_file = np.empty_like(series)
    in_file[PLACES] = series
    return {"p": in_file.T.squeeze(), "Nt": np.array(series.shape[1]), "Nx": np.array(3)}


def test_pressure_is_put_in_order():
    series = np.arange(20.0).reshape(4, 5)
    found = kwave_python.sensor_data(as_returned(series), MASK)
    assert np.array_equal(found["p"], series)
    assert found["Nx"] == 3


def test_pressure_of_as_many_steps_as_points():
    series = np.arange(16.0).reshape(4, 4)
    returned = as_returned(series)
    returned["p"] = returned["p"][PLACES]  # the package sorts the steps instead of the points
    assert np.array_equal(kwave_python.sensor_data(returned, MASK)["p"], series)


def test_pressure_of_one_point_or_one_step():
    one_point = np.zeros((3, 4), dtype=bool)
    one_point[1, 2] = True
    found = kwave_python.sensor_data({"p": np.arange(5.0), "Nt": np.array(5)}, one_point)
    assert np.array_equal(found["p"], [[0, 1, 2, 3, 4]])
    found = kwave_python.sensor_data({"p": np.arange(4.0), "Nt": np.array(1)}, MASK)
    assert np.array_equal(found["p"], [[0], [1], [2], [3]])


def problem(**source) -> tuple:
    speed = 1000.0 + np.arange(12).reshape(3, 4)
    nothing = {"p": None, "ux": None, "uy": None, "p_mode": None, "u_mode": None}
    grid = SimpleNamespace(dim=2, dt=2e-8, spacing=[1e-4, 2e-4])
    return SimpleNamespace(**nothing | source), grid, SimpleNamespace(sound_speed=speed)


def test_sources_are_scaled_point_by_point():
    rows = np.arange(8.0).reshape(4, 2)
    source, grid, medium = problem(p_mask=MASK, p=rows, u_mask=MASK, uy=[1.0, 2.0], u_mode="additive")
    scaled = kwave_python.scaled_source(source, grid, medium)
    speeds = np.array([1008.0, 1001.0, 1003.0, 1011.0])[:, np.newaxis]
    assert np.allclose(scaled.p, rows[[2, 0, 1, 3]] * 2 * 2e-8 / (2 * speeds * 1e-4))
    assert np.allclose(scaled.uy, [[1.0, 2.0]] * (2 * speeds * 2e-8 / 2e-4))
    assert scaled.ux is None and source.p is rows


def test_dirichlet_sources_are_scaled_or_left():
    source, grid, medium = problem(
        p_mask=MASK, p=[3.0], p_mode="dirichlet", u_mask=MASK, ux=[5.0], u_mode="dirichlet"
    )
    medium.sound_speed = 1500.0
    scaled = kwave_python.scaled_source(source, grid, medium)
    assert np.allclose(scaled.p, 3.0 / (2 * 1500.0**2))
    assert np.allclose(scaled.ux, 5.0)


def test_corrections_warn_of_another_version(monkeypatch):
    monkeypatch.setitem(sys.modules, "kwave", SimpleNamespace(__version__="9.9"))
    with pytest.warns(UserWarning, match=r"this is 9\.9"):
        kwave_python.sensor_data({"p": np.zeros(1), "Nt": np.array(1)}, np.ones((1, 1)))
