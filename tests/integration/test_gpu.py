# SPDX-License-Identifier: BSD-3-Clause
"""Whole runs of seismic waves on a device."""

import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

import command
import jobs
from device_runs import DEVICE, STOPS, assert_same, computed, stop_and_resume
from shared import Shared
from tailrace.doctor import devices_here
from tailrace.trace import read_run
from test_seismic import CASE as REFERENCE_CASE
from test_seismic import DATA, REFERENCE

STEPS = 40
# Relative errors in the mean square, by steps.
LIMITS = {
    "float32": REFERENCE["tolerance"]["float32_rel_l2"],
    "float64": {"60": 1e-10, "100": 1e-10},
}
CASE = """
[case]
simulation = "seismic"
[domain]
cells = [40, 21, 18]
spacing_m = [10, 11, 12]
[time]
dt_s = 0.001
steps = 40
[model]
equations = "tti"
vp_m_s = 2500
epsilon = 0.2
delta = 0.1
dip_rad = 0.5
azimuth_rad = 0.8
[source]
cells = [[20, 10, 9], [3, 2, 15]]
amplitudes = [1, -2]
[boundary]
kind = "sponge"
width = 5
[[output]]
name = "whole"
quantity = "p"
every = 5
[[output]]
name = "plane"
quantity = "q"
select = {box = [[0, 10, 0], [39, 10, 17]]}
every = 3
[[output]]
name = "traces"
quantity = "p"
select = {points = [[20, 10, 2], [5, 4, 3], [20, 10, 2], [39, 20, 17]]}
every = 1
type = "float64"
[[output]]
name = "loud"
quantity = "p"
reduce = "max"
[[output]]
name = "energy"
quantity = "q"
reduce = "rms"
[[output]]
name = "last"
quantity = "p"
reduce = "final"
[receivers]
segy = ["traces"]
"""


def start(directory: Path, *options, ranks: int = 0, text: str = CASE) -> jobs.Job:
    (directory / "case.toml").write_text(text)
    words = ["--case", directory / "case.toml", "--out", directory / "run", "--quiet", *options]
    return jobs.Job(words, ranks, [str(jobs.SEISMIC)])


def run(directory: Path, *options, **how) -> jobs.Ended:
    return start(directory, *options, **how).wait()


def values(path: Path) -> dict[str, np.ndarray]:
    with h5py.File(path) as file:
        return {name: file[f"{name}/values"][()] for name in file if f"{name}/values" in file}


def assert_near(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    """Within the rounding that docs/explain/device.md names."""
    assert found.keys() == expected.keys() and len(found) == 6
    for name, known in expected.items():
        assert np.isfinite(found[name]).all(), name
        assert np.abs(found[name] - known).max() <= 2e-6 * np.abs(known).max(), name


@pytest.fixture
def processor(once: Shared) -> Path:
    return once("seismic for devices by the processor", computed(start))


@pytest.fixture
def device(once: Shared) -> Path:
    return once("seismic by a device", computed(start, "--device", DEVICE))


def test_a_run_on_a_device_is_that_of_the_processor(processor, device):
    assert_near(values(device / "output.h5"), values(processor / "output.h5"))
    sizes = [(run_dir / "output.traces.sgy").stat().st_size for run_dir in (processor, device)]
    assert sizes[0] == sizes[1] > 3600
    [rank] = jobs.account(device)["per_rank"]
    assert rank["device"]["index"] == 0 and rank["device"]["ranks"] == 1
    cells = 50 * 31 * 28  # with the sponge
    assert 11 * 4 * cells * 0.35 < rank["predicted_device_memory_bytes"] < 64e6
    assert "device" not in jobs.account(processor)["per_rank"][0]


def test_the_trace_shows_what_the_device_does_meanwhile(tmp_path):
    ended = run(tmp_path, "--device", DEVICE, "--write", "threads", ranks=2)
    assert ended.status == 0, ended
    trace = read_run(tmp_path / "run")
    assert not trace.problems
    for rank in trace.ranks:
        kernels, copies, halos = (
            rank.select(thread, kind)
            for thread, kind in (
                ("device", "compute"),
                ("device copies", "pack"),
                ("device halos", "exchange"),
            )
        )
        assert list(kernels["step"]) == list(range(1, STEPS + 1))
        assert (kernels["end_s"] > kernels["start_s"]).all() and (np.diff(kernels["start_s"]) > 0).all()
        assert sorted(set(copies["step"])) == list(range(1, STEPS + 1)) and (copies["bytes"] > 0).all()
        assert len(halos) == STEPS * 2 * 2  # two fields, out and in
        begin, end = rank.select("main", "compute")["start_s"].min(), rank.events["end_s"].max()
        assert begin <= kernels["start_s"].min() and kernels["end_s"].max() <= end
    ended = command.tailrace("report", tmp_path / "run")
    assert ended.status == 0, ended


SLOW_IF_EMULATED = [pytest.mark.full] if DEVICE == "emulated" else []


@pytest.mark.parametrize("precision", [pytest.param(name, marks=SLOW_IF_EMULATED) for name in LIMITS])
def test_the_reference_case_on_a_device(precision, tmp_path):
    """Against an independent solver, within the limits of the processor."""
    text = REFERENCE_CASE.replace('precision = "float64"', f'precision = "{precision}"')
    ended = run(tmp_path, "--device", DEVICE, text=text)
    assert ended.status == 0, ended
    with h5py.File(DATA / "tti-homogeneous-64.h5") as known, h5py.File(tmp_path / "run/output.h5") as found:
        for sample, step in enumerate((60, 100)):
            if (name := f"p/{step:05}") not in known:
                continue
            expected, values = known[name][()], found["snap/values"][sample]
            error = np.linalg.norm(values - expected) / np.linalg.norm(expected)
            assert error < LIMITS[precision][str(step)]


@pytest.mark.parametrize(
    ("write", "ranks"),
    [("blocking", 2), ("threads:2", 3), ("auto", 2), ("leaders", 3), ("spawn:1", 2), ("ranks:1", 3)],
)
def test_every_strategy_takes_samples_from_devices(write, ranks, device, tmp_path):
    """Bit for bit those of one rank, whoever writes them."""
    ended = run(tmp_path, "--device", DEVICE, "--write", write, ranks=ranks)
    assert ended.status == 0, ended
    assert_same(values(tmp_path / "run/output.h5"), values(device / "output.h5"))
    if DEVICE == "emulated":
        shared = f"{ranks - write.startswith('ranks')} ranks share a device"
        assert shared in ended.err, ended


@pytest.mark.parametrize("sink", ["hdf5-chunked", "rsf"])
def test_sinks_see_no_devices(sink, device, tmp_path):
    ended = run(tmp_path, "--device", DEVICE, "--sink", sink)
    assert ended.status == 0, ended
    assert_same(values(tmp_path / "run/output.h5"), values(device / "output.h5"))


@pytest.mark.parametrize("stop", STOPS)
def test_a_run_that_is_stopped_on_one_continues_on_the_other(stop, processor, tmp_path):
    stop_and_resume(start, tmp_path, stop, STEPS, latency="20ms")
    assert_near(values(tmp_path / "run/output.h5"), values(processor / "output.h5"))


def test_a_killed_run_resumes_on_devices_bit_for_bit(device, tmp_path):
    often = ("--set", "checkpoint.every=7", "--device", DEVICE)
    ended = run(tmp_path, *often, "--fault", "kill:step=26", ranks=2)
    assert ended.status not in (0, 2), ended
    ended = run(tmp_path, *often, "--resume", ranks=3)
    assert ended.status == 0, ended
    assert jobs.account(tmp_path / "run")["resumed_from"] in (14, 21)
    assert_same(values(tmp_path / "run/output.h5"), values(device / "output.h5"))


def test_the_command_and_the_environment_choose_the_device(device, tmp_path, monkeypatch):
    (tmp_path / "case.toml").write_text(CASE)
    monkeypatch.setenv("TAILRACE_DEVICE", DEVICE)
    ended = command.tailrace("run", tmp_path / "case.toml", "--out", tmp_path / "one", "--no-report")
    assert ended.status == 0, ended
    assert jobs.account(tmp_path / "one")["per_rank"][0]["device"]["index"] == 0
    words = ("--device", "none", "--no-report")
    ended = command.tailrace("run", tmp_path / "case.toml", "--out", tmp_path / "two", *words)
    assert ended.status == 0, ended
    assert "device" not in jobs.account(tmp_path / "two")["per_rank"][0]


BAD_CHOICES = {
    "all": ["--device all is no choice of devices", "none, auto, a number"],
    "emulated:memory=lots": ["--device emulated:memory=lots"],
    "1000": ["--device 1000: there is no device", "--device none"],
    "emulated:memory=4MB": [
        "domain.cells = [40, 21, 18]: the run takes ",
        "of the memory of device 0 (emulated device), and ",
        "points at most, more devices, or --device none",
    ],
}


@pytest.mark.parametrize("choice", BAD_CHOICES)
def test_a_device_that_does_not_do_is_refused(choice, tmp_path):
    ended = run(tmp_path, "--device", choice, ranks=2)
    assert ended.status == 2, ended
    assert ended.err.count("tailrace-seismic: ") == 1 + ("share a device" in ended.err), ended
    for words in BAD_CHOICES[choice]:
        assert words in ended.err, ended
    assert not (tmp_path / "run").exists()


def test_auto_computes_on_the_processor_where_there_is_no_device(tmp_path):
    if devices_here()[0]:
        pytest.skip("there is a device here")
    ended = run(tmp_path, "--device", "auto")
    assert ended.status == 0, ended
    assert "warning: --device auto: the processor computes: " in ended.err


def test_a_device_that_is_lost_ends_the_run_and_leaves_the_last_checkpoint(device, tmp_path):
    often = ("--set", "checkpoint.every=7")
    ended = run(tmp_path, *often, "--device", "emulated:failing_copy=100", ranks=2)
    assert ended.status == 3, ended
    assert "the emulated device failed in a copy" in ended.err
    assert ended.seconds < jobs.LIMIT_S / 2
    ended = run(tmp_path, *often, "--device", DEVICE, "--resume", ranks=2)
    assert ended.status == 0, ended
    assert jobs.account(tmp_path / "run")["resumed_from"] > 0
    assert_same(values(tmp_path / "run/output.h5"), values(device / "output.h5"))


def test_a_wave_that_grows_without_bound_on_a_device_ends_the_run(tmp_path):
    wild = CASE.replace("amplitudes = [1, -2]", "amplitudes = [1e60, 1]")
    ended = run(tmp_path, "--device", DEVICE, text=wild)
    assert ended.status == 3, ended
    assert "p holds NaN or infinity at step 20" in ended.err, ended


@pytest.mark.parametrize("tool", ["memcheck", "racecheck", "initcheck"])
def test_the_sanitizers_of_devices_find_nothing(tool, tmp_path):
    if DEVICE == "emulated":
        pytest.skip("on devices only: tailrace test --gpu")
    if (sanitizer := shutil.which("compute-sanitizer")) is None:
        pytest.skip("there is no compute-sanitizer")
    (tmp_path / "case.toml").write_text(CASE)
    words = ["--case", tmp_path / "case.toml", "--out", tmp_path / "run", "--device", DEVICE]
    ended = jobs.Job(words, 0, [sanitizer, "--tool", tool, "--error-exitcode", "9", str(jobs.SEISMIC)]).wait()
    assert ended.status == 0, ended
