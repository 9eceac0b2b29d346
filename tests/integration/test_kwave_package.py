# SPDX-License-Identifier: BSD-3-Clause
"""Whole simulations through k-wave-python: our program, given by the package's own options, against the
package's NumPy backend in double precision. No test uses a network.
"""

import copy
import importlib
import importlib.util
import os
import re
import socket
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import h5py
import numpy as np
import pytest

import jobs
from matrix import pairwise
from tailrace.kwave_python import binary, import_kwave, scaled_source, sensor_data

INSTALLED = importlib.util.find_spec("kwave") is not None
pytestmark = pytest.mark.skipif(
    not INSTALLED and "CI" not in os.environ, reason="k-wave-python is not installed: pip install '.[kwave]'"
)
USED = {
    "kWaveGrid": "kgrid",
    "kWaveMedium": "kmedium",
    "kSensor": "ksensor",
    "kSource": "ksource",
    "kspaceFirstOrder": "kspaceFirstOrder",
    "kspaceFirstOrder2D": "kspaceFirstOrder2D",
    "kspaceFirstOrder3D": "kspaceFirstOrder3D",
    "SimulationOptions": "options.simulation_options",
    "SimulationExecutionOptions": "options.simulation_execution_options",
}
RANKS = [1, 2]
MODES = ["additive", "additive-no-correction", "dirichlet"]
LIMIT = 1e-5
STEPS, DT, SPACING = 60, 2e-8, 1e-4
PML = {2: (6, 5), 3: (6, 5, 4)}


@pytest.fixture(autouse=True)
def no_network(monkeypatch, tmp_path):
    """A connection out of this process is an error; programs that it starts find no server either."""

    def refuse(self, address):
        if self.family != socket.AF_UNIX:
            raise AssertionError(f"connects to {address}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("OMP_WAIT_POLICY", "passive")
    # The package sets these for the programs that it starts, and does not take them back.
    for name in ("OMP_PLACES", "OMP_PROC_BIND"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def kwave() -> SimpleNamespace:
    """What the tests use of the package."""
    import_kwave()
    warnings.filterwarnings("ignore", module="kwave")
    return SimpleNamespace(
        **{name: getattr(importlib.import_module(f"kwave.{part}"), name) for name, part in USED.items()}
    )


def ball(points: tuple[int, ...], radius: float) -> np.ndarray:
    return sum((axis - n / 2) ** 2 for axis, n in zip(np.indices(points), points, strict=True)) < radius**2


class Problem:
    """A grid, a medium and a sensor mask; sources are added by the tests."""

    def __init__(self, kwave: SimpleNamespace, points: tuple[int, ...], *, varied: bool = True) -> None:
        self.points, self.kwave, self.pml = points, kwave, PML[len(points)]
        self.grid = kwave.kWaveGrid(points, (SPACING,) * len(points))
        self.grid.setTime(STEPS, DT)
        inside = ball(points, 6)
        self.medium = kwave.kWaveMedium(
            sound_speed=1500 + 90.0 * inside if varied else 1500.0, density=1000.0
        )
        if varied:
            self.medium.density = 1000 + 60.0 * inside
            self.medium.alpha_coeff, self.medium.alpha_power, self.medium.BonA = 0.75, 1.5, 6.0
        self.mask = self.some_points(17, seed=1)
        self.source = kwave.kSource()

    def some_points(self, count: int, seed: int) -> np.ndarray:
        """A mask of points away from the absorbing layers."""
        mask = np.zeros(self.points, dtype=bool)
        inner = mask[tuple(slice(p, n - p) for p, n in zip(self.pml, self.points, strict=True))]
        chosen = np.random.default_rng(seed).choice(inner.size, count, replace=False)
        inner[np.unravel_index(chosen, inner.shape)] = True
        return mask

    def sensor(self, *record: str):
        sensor = self.kwave.kSensor(mask=self.mask)
        if record:
            sensor.record = list(record)
        return sensor

    def by_package(self, *record: str) -> dict:
        """With the package's NumPy backend."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.kwave.kspaceFirstOrder(
                *self.parts(self.source),
                self.sensor(*record),
                pml_size=self.pml,
                pml_inside=True,
                quiet=True,
            )

    def by_program(self, source, ranks: int, **also) -> dict:
        """With our program through the same call."""
        return self.kwave.kspaceFirstOrder(
            *self.parts(source),
            self.sensor(),
            pml_size=self.pml,
            pml_inside=True,
            quiet=True,
            backend="cpp",
            binary_path=binary(ranks),
            num_threads=ranks,
            **also,
        )

    def by_older_call(
        self, directory: Path, ranks: int, sensor, checkpoint: dict | None = None, **options
    ) -> dict | None:
        """With our program through the call that keeps a list of what to sample; it leaves its files."""
        call = getattr(self.kwave, f"kspaceFirstOrder{len(self.points)}D")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return call(
                self.grid,
                copy.deepcopy(self.source),
                sensor,
                copy.deepcopy(self.medium),
                self.kwave.SimulationOptions(
                    save_to_disk=True,
                    pml_inside=True,
                    pml_size=list(self.pml),
                    smooth_p0=False,
                    data_path=str(directory),
                    **options,
                ),
                self.kwave.SimulationExecutionOptions(
                    binary_path=binary(ranks), show_sim_log=False, **checkpoint or {}
                ),
            )

    def parts(self, source) -> tuple:
        return copy.deepcopy((self.grid, self.medium, source))

    def in_order(self, series: np.ndarray) -> np.ndarray:
        """A (time, point) series or one value per point, x fastest, as the NumPy backend has it."""
        places = np.cumsum(self.mask.ravel(order="F")).reshape(self.points, order="F") - 1
        return series.T[places[self.mask]]

    def pressure_source(self, mode: str, signals: int) -> None:
        self.source.p_mask = self.some_points(9, seed=2)
        self.source.p, self.source.p_mode = 1e5 * bursts(signals), mode

    def velocity_source(self, mode: str, signals: int) -> None:
        self.source.u_mask = self.some_points(9, seed=3)
        self.source.ux, self.source.uy = 0.1 * bursts(signals), 0.05 * bursts(signals)
        self.source.u_mode = mode


def bursts(count: int) -> np.ndarray:
    time = np.arange(45)
    return np.sin(2 * np.pi * time / 18) * np.hanning(45) * np.linspace(1, 2, count)[:, np.newaxis]


def assert_close(found: np.ndarray, expected: np.ndarray, scale: float | None = None) -> None:
    assert found.shape == expected.shape
    assert np.abs(expected).max() > 0
    assert np.abs(found - expected).max() < LIMIT * (scale or np.abs(expected).max())


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("points", [(40, 36), (30, 28, 24)], ids=["2D", "3D"])
def test_initial_pressure(kwave, points, ranks):
    problem = Problem(kwave, points)
    problem.source.p0 = 1e6 * ball(points, 5)
    expected = problem.by_package("p")
    found = sensor_data(problem.by_program(problem.source, ranks), problem.mask)
    assert_close(found["p"], expected["p"])


def test_absorbing_layer_outside_and_files_kept(kwave, tmp_path):
    """The package makes the grid larger; with a directory given, it leaves the files."""
    problem = Problem(kwave, (24, 22, 20), varied=False)
    problem.source.p0 = 1e5 * ball(problem.points, 4)
    call = {"pml_size": 6, "quiet": True}
    expected = kwave.kspaceFirstOrder(*problem.parts(problem.source), problem.sensor(), **call)
    call |= {"backend": "cpp", "binary_path": str(binary()), "data_path": str(tmp_path)}
    found = kwave.kspaceFirstOrder(*problem.parts(problem.source), problem.sensor(), **call)
    assert_close(sensor_data(found, problem.mask)["p"], expected["p"])
    with h5py.File(tmp_path / "kwave_output.h5") as file:
        assert file["p"].shape == (1, STEPS, problem.mask.sum())
        assert file["Nx"][0, 0, 0] == 36


@pairwise("kind, mode, signals", ["pressure", "velocity"], MODES, [1, 9])
def test_scaled_sources(kwave, kind, mode, signals):
    problem = Problem(kwave, (32, 26))
    getattr(problem, f"{kind}_source")(mode, signals)
    expected = problem.by_package("p")
    source = scaled_source(problem.source, problem.grid, problem.medium)
    found = sensor_data(problem.by_program(source, 1), problem.mask)
    assert_close(found["p"], expected["p"])


@pytest.mark.parametrize("ranks", RANKS)
def test_scaled_sources_in_three_dimensions(kwave, ranks):
    problem = Problem(kwave, (26, 24, 22))
    problem.pressure_source("additive", 9)
    problem.velocity_source("additive", 9)
    problem.source.uz = 0.07 * bursts(9)
    source = scaled_source(problem.source, problem.grid, problem.medium)
    found = sensor_data(problem.by_program(source, ranks), problem.mask)
    assert_close(found["p"], problem.by_package("p")["p"])


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("points", [(40, 36), (28, 26, 24)], ids=["2D", "3D"])
def test_older_call_with_sources_and_records(kwave, points, ranks, tmp_path):
    """The older call scales sources itself. Homogeneous, because the two calls average densities apart."""
    problem = Problem(kwave, points, varied=False)
    problem.pressure_source("additive", 1)
    problem.velocity_source("additive-no-correction", 1)
    records = ["p", "p_max", "p_rms", "u", "u_max", "u_non_staggered", "p_final"]
    found = problem.by_older_call(tmp_path, ranks, problem.sensor(*records))
    expected = problem.by_package("p", "p_max", "p_rms", "u_staggered", "u", "p_final")
    axes = "xyz"[: len(points)]
    speed = max(np.abs(expected[f"u{axis}_staggered"]).max() for axis in axes)
    assert_close(problem.in_order(found["p"]), expected["p"])
    for name in ("p_max", "p_rms"):
        assert_close(problem.in_order(found[name]), expected[name])
    for axis in axes:
        staggered = expected[f"u{axis}_staggered"]
        assert_close(problem.in_order(found[f"u{axis}"]), staggered, speed)
        assert_close(problem.in_order(found[f"u{axis}_max"]), staggered.max(axis=1), speed)
        assert_close(problem.in_order(found[f"u{axis}_non_staggered"]), expected[f"u{axis}"], speed)
    inside = tuple(slice(p, n - p) for p, n in zip(problem.pml, points, strict=True))
    assert_close(found["p_final"].T[inside], expected["p_final"], np.abs(expected["p"]).max())


def test_older_call_from_a_later_step(kwave, tmp_path):
    problem = Problem(kwave, (36, 34), varied=False)
    problem.velocity_source("additive", 1)
    sensor = problem.sensor("p")
    sensor.record_start_index = 21
    found = problem.by_older_call(tmp_path, 1, sensor)
    assert_close(problem.in_order(found["p"]), problem.by_package("p")["p"][:, 20:])


def test_older_call_in_segments(kwave, tmp_path):
    """The package's checkpoint options: the call is repeated until the last step is there."""
    problem = Problem(kwave, (36, 34), varied=False)
    problem.pressure_source("additive", 1)
    files = {"input_filename": "in.h5", "output_filename": "out.h5"}
    segments = {"checkpoint_file": tmp_path / "state.h5", "checkpoint_timesteps": 25}
    reached = []
    while not reached or reached[-1] < STEPS:
        found = problem.by_older_call(tmp_path, 1, problem.sensor("p", "p_max"), segments, **files)
        reached.append(int(found["t_index"]))
    assert reached == [25, 50, 60]
    expected = problem.by_package("p", "p_max")
    assert_close(problem.in_order(found["p"]), expected["p"])
    assert_close(problem.in_order(found["p_max"]), expected["p_max"])


def test_boxes_are_recorded_outside_the_package(kwave, tmp_path):
    """The package cannot read boxes back: it writes the input, and the rest is ours."""
    problem = Problem(kwave, (28, 26, 24), varied=False)
    problem.pressure_source("additive", 1)
    corners = np.array([[10, 9, 8, 14, 12, 10], [16, 6, 12, 16, 20, 12]]).T
    sensor = kwave.kSensor(mask=corners)
    sensor.record = ["p"]
    problem.by_older_call(tmp_path, 1, sensor, save_to_disk_exit=True, input_filename="in.h5")
    command = [binary(), "-i", tmp_path / "in.h5", "-o", tmp_path / "out.h5", "-t", "1"]
    subprocess.run(command, check=True, capture_output=True)
    problem.mask = np.ones(problem.points, dtype=bool)
    everywhere = problem.by_package("p")["p"].reshape(*problem.points, STEPS)
    with h5py.File(tmp_path / "out.h5") as file:
        for name, (x1, y1, z1, x2, y2, z2) in zip(("p/1", "p/2"), corners.T, strict=True):
            expected = everywhere[x1 - 1 : x2, y1 - 1 : y2, z1 - 1 : z2]
            assert_close(file[name][()].T, expected)


def test_number_of_a_graphics_card_is_ignored(kwave):
    problem = Problem(kwave, (30, 28), varied=False)
    problem.source.p0 = 1e5 * ball(problem.points, 4)
    found = problem.by_program(problem.source, 1, device_num=0)
    assert_close(sensor_data(found, problem.mask)["p"], problem.by_package("p")["p"])


def test_failure_of_the_program_is_seen(kwave):
    problem = Problem(kwave, (30, 28), varied=False)
    problem.source.p0 = np.full(problem.points, np.nan)
    with pytest.raises(subprocess.CalledProcessError) as failure:
        problem.by_program(problem.source, 1)
    assert "p0_source_input" in failure.value.stderr


FRESH = """
import sys
def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "urllib.Request"):
        raise RuntimeError(f"network: {event} {arguments}")
sys.addaudithook(refuse)
from tailrace.kwave_python import import_kwave
kwave = import_kwave()
from kwave.kspaceFirstOrder import kspaceFirstOrder
print(kwave.__version__)
"""


@pytest.mark.parametrize("opencv", ["", "sys.modules['cv2'] = None\n"], ids=["", "without OpenCV"])
def test_import_in_a_fresh_process(opencv):
    package = Path(importlib.util.find_spec("kwave").origin).parent
    before = sorted(path for path in package.rglob("*") if "__pycache__" not in path.parts)
    done = subprocess.run(
        [sys.executable, "-c", "import sys\n" + opencv + FRESH],
        env=jobs.environment("import"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("0.6.")
    assert before == sorted(path for path in package.rglob("*") if "__pycache__" not in path.parts)


HOWTO = Path(__file__).resolve().parents[2] / "docs/howto/k-wave.md"


def test_howto(tmp_path):
    """What the document shows, in its order: lines of Python in one session, and commands between them.

    With half of the steps: those of the solver in NumPy take most of the time.
    """
    root = HOWTO.parents[2]
    for name in ("tailrace", "build"):
        (tmp_path / name).symlink_to(root / name)
    blocks = re.findall(r"^```(python|sh)\n(.*?)^```", HOWTO.read_text(), re.MULTILINE | re.DOTALL)
    assert {kind for kind, _ in blocks} == {"python", "sh"}
    # The older calls leave their files in the temporary directory.
    steps = f"import subprocess, tempfile\ntempfile.tempdir = {str(tmp_path)!r}\n"
    for kind, whole in blocks:
        text = whole.replace("setTime(100,", "setTime(50,").replace("(100, 34)", "(50, 34)")
        steps += text if kind == "python" else f"subprocess.run(['sh', '-ec', {text!r}], check=True)\n"
    done = subprocess.run(
        [sys.executable, "-"],
        input=steps,
        cwd=tmp_path,
        env=jobs.environment("howto"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
