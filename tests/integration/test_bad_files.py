# SPDX-License-Identifier: BSD-3-Clause
"""Files that are no input, and outputs that cannot be written: what is said, and that nothing is harmed."""

import os
import shutil
import stat
from pathlib import Path

import h5py
import pytest

import jobs
from bad_input import refused


def test_files_that_are_no_input(small, tmp_path):
    (tmp_path / "text.h5").write_text("This is no HDF5 file.\n" * 100)
    (tmp_path / "empty.h5").touch()
    (tmp_path / "folder.h5").mkdir()
    os.mkfifo(tmp_path / "pipe.h5")
    (tmp_path / "device.h5").symlink_to("/dev/zero")
    (tmp_path / "circle.h5").symlink_to(tmp_path / "circle.h5")
    expected = {
        "pipe.h5": "is no regular file",
        "device.h5": "is no regular file",
        "circle.h5": "Too many levels of symbolic links",
        "text.h5": "is not an HDF5 file",
        "empty.h5": "is not an HDF5 file",
        "folder.h5": "is a directory",
        "absent.h5": "No such file or directory",
    }
    for name, words in expected.items():
        assert words in refused(tmp_path / name, tmp_path)
    whole = small.read_bytes()
    for size in (1, 30, 500, 3000, len(whole) // 3, len(whole) // 2, len(whole) - 2000, len(whole) - 1):
        (tmp_path / "cut.h5").write_bytes(whole[:size])
        message = refused(tmp_path / "cut.h5", tmp_path)
        assert "truncated" in message or "not an HDF5 file" in message


def test_datasets_that_are_not_what_they_seem(small, tmp_path):
    """Links, other files and shapes without values in the place of datasets: all in one message."""
    path = tmp_path / "in.h5"
    shutil.copy(small, path)
    os.mkfifo(tmp_path / "pipe")
    with h5py.File(path, "r+") as file:
        for name in ("c0", "rho0", "BonA", "dt", "dx", "Nt", "p_source_index"):
            del file[name]
        file["c0"] = h5py.ExternalLink(small, "/c0")
        file["rho0"] = h5py.ExternalLink(tmp_path / "pipe", "/rho0")
        file["BonA"] = h5py.SoftLink("/nowhere")
        file["dt"] = h5py.SoftLink("/dt")
        file.create_group("dx")
        file.create_dataset("Nt", (1, 1, 1), "<u8", external=[(tmp_path / "pipe", 0, h5py.h5f.UNLIMITED)])
        file.create_dataset("p_source_index", (1, 1, 2**60), "<u8", chunks=(1, 1, 1000), fillvalue=1)
    message = refused(path, tmp_path)
    for words in (
        "dataset c0 is a link into another file",
        "dataset rho0 is a link into another file",
        "dataset BonA is missing",
        "dataset dt is missing",
        "dx is no dataset",
        "the values of dataset Nt lie in other files",
        f"dataset p_source_index has shape (1, 1, {2**60}), but the file holds only 0 bytes of it",
        "7 problems",
    ):
        assert words in message, message


def test_output_that_cannot_be_written(small, tmp_path):
    (tmp_path / "folder").mkdir()
    for output, words in (
        (tmp_path / "nowhere" / "out.h5", "No such file or directory"),
        (tmp_path / "folder", "Is a directory"),
        (Path("/proc/out.h5"), "/proc/out.h5: cannot be created"),
    ):
        ended = jobs.run("-i", small, "-o", output, "--quiet")
        assert ended.status == 1, ended
        assert (
            ended.err.startswith(f"tailrace-ultrasound: {output}: cannot be created") and words in ended.err
        )
        assert ". Fix: " in ended.err
    ended = jobs.run("-i", small, "-o", tmp_path / "nowhere" / "out.h5")
    *_, phase, frame = ended.out.splitlines()
    assert "Preparing" in phase and phase.endswith("Failed │") and frame[0] == "└", ended
    (tmp_path / "file").touch()
    ended = jobs.run("--case", small, "--out", tmp_path / "file" / "run", "--quiet")
    assert ended.status == 2 and "cannot be made: Not a directory. Fix: " in ended.err, ended


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_output_without_permission(small, tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir(mode=stat.S_IRUSR | stat.S_IXUSR)
    ended = jobs.run("-i", small, "-o", locked / "out.h5", "--quiet")
    assert ended.status == 1 and "Permission denied. Fix: " in ended.err, ended


def test_output_in_the_place_of_the_input(small, tmp_path):
    mine = tmp_path / "mine.h5"
    shutil.copy(small, mine)
    (tmp_path / "link.h5").symlink_to(mine)
    for output in (mine, tmp_path / "link.h5"):
        ended = jobs.run("-i", mine, "-o", output, "--quiet")
        assert ended.status == 1 and "would replace the input. Fix: " in ended.err, ended
    assert mine.read_bytes() == small.read_bytes()
