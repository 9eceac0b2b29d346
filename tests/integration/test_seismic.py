# SPDX-License-Identifier: BSD-3-Clause
"""The seismic program: cases, files and messages, against results of an independent solver."""

import json
import textwrap
from pathlib import Path

import h5py
import numpy as np
import pytest

import command
import jobs
from matrix import Family
from test_rehearse import SERVICES, world

DATA = Path(__file__).resolve().parents[1] / "data" / "seismic"
# Sinks whose files h5py reads.
READABLE = ("hdf5", "rsf", "hdf5-chunked", "mpiio", "hdf5-parallel")
REFERENCE = json.loads((DATA / "tti-homogeneous-64.json").read_text())
MEDIUM = REFERENCE["medium"]

# The reference case, as a user would write it.
CASE = f"""
[case]
simulation = "seismic"
[domain]
cells = [64, 64, 64]
spacing_m = [12.5, 12.5, 12.5]
[time]
dt_s = 0.001
steps = 100
[model]
equations = "tti"
vp_m_s = {MEDIUM["vpz"]}
epsilon = {MEDIUM["epsilon"]}
delta = {MEDIUM["delta"]}
dip_rad = {MEDIUM["theta"]}
azimuth_rad = {MEDIUM["phi"]}
sigma = {MEDIUM["sigma"]}
precision = "float64"
[source]
wavelet = "ricker"
fcut_hz = 40.0
cell = [32, 32, 32]
[[output]]
name = "snap"
quantity = "p"
at = [60, 100]
type = "float64"
[[output]]
name = "receivers"
quantity = "p"
select = {{points = {[list(reversed(point)) for point in REFERENCE["receivers_zyx"]]}}}
every = 1
type = "float64"
"""

# Small, with every kind of input: per-point values in a file, a wavelet in a file, several sources.
SMALL = """
[case]
simulation = "seismic"
[domain]
cells = [14, 13, 12]
spacing_m = [10, 11, 12]
[time]
dt_s = 0.001
end_s = 0.02
[model]
equations = "vti"
vp_m_s = "model.h5:/vp"
epsilon = "model.h5:/epsilon"
delta = 0.05
vs_m_s = 900
[source]
wavelet = "model.h5:/wavelet"
cells = [[7, 6, 6], [0, 12, 3]]
amplitudes = [1, -2.5]
[boundary]
kind = "random"
width = 4
[[output]]
name = "q"
quantity = "q"
every = 2
[[output]]
name = "loud"
quantity = "p"
reduce = "max"
"""


def run(directory: Path, text: str, *options, ranks: int = 0, name: str = "run") -> jobs.Ended:
    (directory / "case.toml").write_text(text)
    words = ["--case", directory / "case.toml", "--out", directory / name, "--quiet", *options]
    return jobs.seismic(*words, ranks=ranks)


@pytest.fixture
def model(tmp_path) -> Path:
    z, y, x = np.meshgrid(np.arange(12), np.arange(13), np.arange(14), indexing="ij")
    with h5py.File(tmp_path / "model.h5", "w") as file:
        file["vp"] = 1800 + 50.0 * z + 10 * np.sin(x + y)
        file["epsilon"] = (0.1 + 0.01 * z).astype("f4")
        file["wavelet"] = np.sin(np.arange(9.0))
        file["counts"] = np.arange(5)
    return tmp_path


@pytest.mark.parametrize(("ranks", "strategy"), [(1, "blocking"), (3, "threads")])
def test_the_reference_case_through_files(tmp_path, ranks, strategy):
    ended = run(tmp_path, CASE, "--write", strategy, ranks=ranks)
    assert ended.status == 0, ended
    reported = jobs.account(tmp_path / "run")
    assert (
        reported["simulation"] == "seismic" and reported["status"] == "finished" and reported["steps"] == 100
    )
    with h5py.File(DATA / "tti-homogeneous-64.h5") as known, h5py.File(tmp_path / "run/output.h5") as found:
        expected = known["p/00100"][()]
        assert np.abs(found["snap/values"][1] - expected).max() < 1e-10 * np.abs(expected).max()
        assert found["snap/time_s"][()] == pytest.approx([0.06, 0.1])
        traces = known["traces/p"][:100]
        assert np.abs(found["receivers/values"][()] - traces).max() < 1e-10 * np.abs(traces).max()


def test_the_help_names_words_and_no_defaults_that_are_none():
    ended = jobs.seismic("--help")
    assert ended.status == 0 and "FORM NX NY NZ ABSORB DX DY DZ DT TMAX" in ended.out, ended
    assert "Usage: tailrace-seismic [OPTIONS] [words...]" in ended.out and "0x" not in ended.out, ended


def test_files_do_not_depend_on_ranks_threads_and_strategy(model):
    assert run(model, SMALL, name="one").status == 0
    clean = jobs.read_datasets(model / "one/output.h5")
    assert clean["q/values"].shape == (10, 12, 13, 14) and np.abs(clean["q/values"][-1]).max() > 0.1
    for ranks, options in [(2, ["-t", 2]), (3, ["--write", "leaders"]), (7, ["--write", "uring"])]:
        ended = run(model, SMALL, *options, ranks=ranks, name=f"on-{ranks}")
        assert ended.status == 0, ended
        found = jobs.read_datasets(model / f"on-{ranks}/output.h5")
        for name in ("q/values", "loud/values", "q/step", "q/time_s"):
            assert found[name].tobytes() == clean[name].tobytes(), (ranks, name)


@Family("strategy, sink", [pair for pair in SERVICES if pair[1] in READABLE]).case()
def test_fields_resume_while_a_slow_device_takes_their_snapshots(model, strategy, sink):
    """What is written is what was sampled, though the waves are steps ahead when it is."""
    assert run(model, SMALL, name="one").status == 0
    slow = ["--write", strategy, "--sink", sink, "--pace", "latency=4ms"]
    ended = run(model, SMALL, *slow, ranks=world(2, strategy), name="slow")
    assert ended.status == 0, ended
    clean, found = (jobs.read_datasets(model / name / "output.h5") for name in ("one", "slow"))
    for name in ("q/values", "loud/values", "q/step", "q/time_s"):
        assert found[name].tobytes() == clean[name].tobytes(), name


def test_a_quiet_run_says_nothing_of_the_planner_either(model):
    ended = run(model, SMALL.replace("end_s = 0.02", "steps = 60").replace("every = 2", "every = 1"))
    assert ended.status == 0 and ended.out == "", ended
    assert len(jobs.account(model / "run")["plan"]["decisions"]) > 1


def test_a_wavelet_in_the_case_is_that_of_the_file(model):
    assert run(model, SMALL, name="file").status == 0
    samples = ", ".join(repr(float(v)) for v in np.sin(np.arange(9.0)))
    text = SMALL.replace('"model.h5:/wavelet"', f'"samples"\nsamples = [{samples}]')
    assert run(model, text, name="list").status == 0
    a, b = (jobs.read_datasets(model / name / "output.h5") for name in ("file", "list"))
    assert a["q/values"].tobytes() == b["q/values"].tobytes()


def test_isotropic_media_have_one_field(model):
    text = SMALL.replace('"vti"', '"isotropic"')
    for key in ("epsilon", "delta", "vs_m_s"):
        text = "\n".join(line for line in text.splitlines() if not line.startswith(key))
    text += '\n[[output]]\nname = "p"\nquantity = "p"\nevery = 2\n'
    ended = run(model, text, ranks=2)
    assert ended.status == 0, ended
    found = jobs.read_datasets(model / "run/output.h5")
    assert found["p/values"].any() and np.array_equal(found["p/values"], found["q/values"])


def test_every_rank_writes_its_own_block_in_large_batches(model):
    """No rank collects the others' values, and none writes them one by one."""
    ended = run(model, SMALL, "--write", "blocking", ranks=4)
    assert ended.status == 0, ended
    with h5py.File(model / "run/output.h5") as file:
        samples, *points = file["q/values"].shape
    ranks = jobs.account(model / "run")["per_rank"]
    bytes_written = [rank["write_bytes"] for rank in ranks]
    assert sum(bytes_written) >= 4 * samples * np.prod(points)
    assert max(bytes_written) < 0.3 * sum(bytes_written), bytes_written
    rows = points[0] * points[1]
    assert all(rank["writes"] < samples * rows for rank in ranks), ranks


@pytest.mark.parametrize("strategy", ["threads", "ranks:1,isend", "spawn-each:1"])
def test_a_failing_disk_ends_the_run_on_every_rank(model, strategy):
    """Also where other processes write: those that compute must hear of it."""
    words = ["--fault", "write:step=10,error=ENOSPC", "--write", strategy]
    ended = run(model, SMALL, *words, ranks=world(2, strategy))
    assert ended.status == 3, ended
    assert jobs.account(model / "run")["status"] == "failed"
    assert "No space left on device" in ended.err


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("cells = [14, 13, 12]", "cells = [14, 13]", ["domain.cells: [14, 13] is no grid"]),
        ("[10, 11, 12]", "[10, 0, 12]", ["domain.spacing_m"]),
        ("dt_s = 0.001", "dt_s = 0.01", ["time.dt_s: 0.01 s is too large", "at most 0.00"]),
        ("end_s = 0.02", "", ["time.steps", "give one of them"]),
        ("end_s = 0.02", "end_s = 0", ["time.end_s: makes 0 steps"]),
        ('"vti"', '"vtj"', ["model.equations", '"vtj"', "one of tti, vti, isotropic"]),
        ("model.h5:/vp", "model.h5", ["model.vp_m_s", "names no dataset"]),
        ("model.h5:/vp", "nix.h5:/vp", ["model.vp_m_s", "nix.h5"]),
        ("model.h5:/vp", "model.h5:/nix", ["model.vp_m_s", "holds no dataset /nix"]),
        ("model.h5:/vp", "model.h5:/wavelet", ["model.vp_m_s", "has the shape", "(z, y, x)"]),
        ("model.h5:/wavelet", "model.h5:/vp", ["source.wavelet", "one dimension"]),
        ("model.h5:/wavelet", "model.h5:/counts", ["source.wavelet", "64-bit integer", "float32 or float64"]),
        ("delta = 0.05", "delta = -0.6", ["model.delta: -0.6 cannot be"]),
        ("delta = 0.05", "dip_rad = 1", ["model.dip_rad", "no meaning for vti"]),
        ("vs_m_s = 900", "vs_m_s = 900\nsigma = 1", ["model.vs_m_s", "conflicts with sigma"]),
        ("[7, 6, 6]", "[7, 6, 12]", ["source.cells: [7, 6, 12] lies outside", "[13, 12, 11]"]),
        ("[0, 12, 3]", "[7, 6, 6]", ["source.cells: [7, 6, 6] is there twice", "source.amplitudes"]),
        ("[1, -2.5]", "[1]", ["source.amplitudes", "1 numbers for 2 sources"]),
        ("amplitudes", "fcut_hz = 3\namplitudes", ["source.fcut_hz", 'wavelet = "ricker"']),
        ("width = 4", "width = 0", ["boundary.width", "leaves no layer"]),
        ('"random"', '"zero"', ["boundary.width", "of no use"]),
        ('"random"', '"sponge"\nseed = 3', ["boundary.seed", "only kind"]),
        ("width = 4", "widht = 4", ["boundary.widht", "did you mean boundary.width?"]),
        ('quantity = "q"', 'quantity = "r"', ["output[0].quantity", '"r"']),
    ],
)
def test_bad_cases_are_refused_before_anything_is_made(model, old, new, words):
    assert old in SMALL
    ended = run(model, SMALL.replace(old, new, 1))
    assert ended.status == 2, ended
    for word in words:
        assert word in ended.err, ended
    assert not (model / "run").exists()


def test_values_that_cannot_be_are_named_with_their_place_on_any_rank(model):
    with h5py.File(model / "model.h5", "r+") as file:
        file["vp"][11, 2, 3] = np.nan
    ended = run(model, SMALL, ranks=3)
    assert ended.status == 2, ended
    assert "model.vp_m_s: nan at the point x, y, z = 3, 2, 11 cannot be" in ended.err
    assert len(jobs.messages(ended, "tailrace-seismic")) == 1


def test_media_that_let_waves_grow_are_warned_of(model):
    text = SMALL.replace("delta = 0.05", "delta = 0.15").replace("vs_m_s = 900", "sigma = 100")
    ended = run(model, text)
    assert ended.status == 0, ended
    (warning,) = jobs.account(model / "run")["warnings"]
    assert "at 910 points waves grow without bound, first at x, y, z = 0, 0, 0" in warning


def test_the_command_runs_and_reports_a_case(model):
    (model / "case.toml").write_text(textwrap.dedent(SMALL))
    ended = jobs.tailrace("run", model / "case.toml", "-n", 2, "--out", model / "run", "--bind", "none")
    assert ended.status == 0, ended
    page = (model / "run/report.html").read_text()
    assert "Wave fronts: output q" in page and "Wave fronts: output loud" in page
    assert command.tailrace("inspect", model / "run", "--verify").status == 0
