# SPDX-License-Identifier: BSD-3-Clause
"""Molecules through every strategy and sink, and storage that fails under trajectories and the reference's
writers.
"""

import os
from pathlib import Path

import h5py
import pytest

import jobs
from matrix import Family
from molecules_cases import job, mixture, output, run, run_in_segments, table, writer
from test_faults import fill
from test_rehearse import SERVICES, world

RANKS = 2 if jobs.waits_spin() else 3
# What a run that fails may take from its start to its end.
SECONDS = jobs.LIMIT_S / 4
OUTPUTS = [
    output("obs", "observables", every=4, initial=True),
    output("places", "position", every=2, initial=True),
    output("slabs", "density", bins=[1, 1, 8], every=5),
    output("turns", "orientation", reduce="final"),
]
TREE = table("decomposition", kind="kd", every=5)
TRAJECTORY = mixture(*OUTPUTS, TREE, table("checkpoint", every=7))


@pytest.fixture(scope="session")
def whole(once) -> Path:
    """A run on so many ranks that nothing disturbs."""

    def make(directory: Path) -> Path:
        run(TRAJECTORY, directory, "--write", "blocking", ranks=RANKS)
        return directory

    return once("trajectory of molecules", make)


def assert_equal_outputs(directory: Path, whole: Path) -> None:
    jobs.assert_equal_files(directory / "run/output.h5", whole / "run/output.h5")


def assert_one_message(ended: jobs.Ended, *words: str) -> None:
    assert ended.seconds < SECONDS, ended
    (message,) = jobs.messages(ended, "tailrace-molecules")
    for word in words:
        assert word in message, message


@Family("strategy, sink", SERVICES).case()
def test_every_strategy_and_sink_writes_the_same(strategy, sink, whole, tmp_path):
    run(TRAJECTORY, tmp_path, "--write", strategy, "--sink", sink, ranks=world(RANKS, strategy))
    if h5py.is_hdf5(tmp_path / "run/output.h5"):  # what netCDF files hold, the native tests compare
        assert_equal_outputs(tmp_path, whole)


@pytest.mark.parametrize("strategy", ["blocking", "threads", "leaders", "uring"])
def test_a_failing_device_ends_the_run_and_it_resumes_elsewhere(strategy, whole, tmp_path):
    fault = ["--write", strategy, "--fault", "write:rank=0,step=20,error=EIO"]
    ended = run(TRAJECTORY, tmp_path, *fault, ranks=RANKS, status=3)
    assert_one_message(ended, "output.h5: writing at byte", "Input/output error")
    assert jobs.assert_failed(tmp_path / "run")["error"]["rank"] == 0
    ended = job(tmp_path, RANKS, "--resume").wait()
    assert ended.status == 0 and jobs.account(tmp_path / "run")["resumed_from"] in (7, 14), ended
    assert_equal_outputs(tmp_path, whole)


def test_short_writes_and_stalls_are_made_good(whole, tmp_path):
    for number, fault in enumerate(["short:every=2", "stall:every=9,s=20ms"]):
        run(TRAJECTORY, tmp_path / str(number), "--fault", fault, ranks=RANKS)
        assert_equal_outputs(tmp_path / str(number), whole)


WRITERS = [
    "ResultWriter",
    "VISWriter",
    "XyzWriter",
    "PovWriter",
    "VTKMoleculeWriter",
    "CheckpointWriter",
    "BinaryCheckpointWriter",
    "MPI-IOCheckpointWriter",
    "PnetCDFCheckpointWriter",
    "MPICheckpointWriter",
]
# Files that grow, and those that are made whole.
FEW_WRITERS = ["ResultWriter", "VISWriter", "VTKMoleculeWriter", "PnetCDFCheckpointWriter"]
PAGE = 4096


@pytest.mark.parametrize("name", FEW_WRITERS)
def test_a_writer_of_the_reference_finds_a_full_disk(name, small_disk, tmp_path):
    """At its first file, or after some lines: one message for all ranks, and nothing half written."""
    disk = small_disk("1m")
    text = TRAJECTORY + writer(name, 3, str(disk / "files"))
    fill(disk / "filler")
    os.truncate(disk / "filler", (disk / "filler").stat().st_size - 2 * PAGE)
    options = ["--set", "writer[0].every=1", "--allow-outside"]  # lines of observables are short
    ended = run(text, tmp_path, *options, ranks=RANKS, status=3)
    assert_one_message(ended, str(disk / "files"), "No space left on device", "Fix: ")
    assert not list(disk.glob("*.partial"))


@pytest.mark.parametrize("name", WRITERS)
def test_a_writer_of_the_reference_on_a_failing_device(name, whole, tmp_path):
    """The first to write after step 16; from a checkpoint before, the run continues."""
    text = TRAJECTORY + writer(name, 3, "files")
    ended = run(text, tmp_path, "--fault", "write:step=17,error=EIO", ranks=RANKS, status=3)
    assert_one_message(ended, "files", "Input/output error")
    jobs.assert_failed(tmp_path / "run")
    assert not list((tmp_path / "run").glob("*.partial"))
    ended = job(tmp_path, RANKS, "--resume").wait()
    assert ended.status == 0 and jobs.account(tmp_path / "run")["resumed_from"] in (7, 14), ended
    assert_equal_outputs(tmp_path, whole)


@pytest.mark.parametrize(
    ("name", "ending", "kill_target"),
    [("ResultWriter", ".res", 0), ("VISWriter", ".vis", 0), ("VISWriter", ".vis", 1)],
)
def test_killed_in_the_middle_of_a_frame(name, ending, kill_target, tmp_path):
    """Half of what a rank has to write of step 28 is there, behind the frame of step 14, from which or from a
    later one the run continues: each line is there once, and whole.
    """
    text = mixture(*OUTPUTS[-1:], TREE, table("checkpoint", every=7), writer(name, 14, "frames"))
    run(text, tmp_path / "whole", ranks=RANKS)
    run_in_segments(text, tmp_path / "legs", RANKS, RANKS, f"kill:rank={kill_target},step=23")
    found, wanted = (tmp_path / segment / f"run/frames{ending}" for segment in ("legs", "whole"))
    assert found.read_bytes() == wanted.read_bytes()
