# SPDX-License-Identifier: BSD-3-Clause
"""Stripes of the output file on Lustre: a program `lfs` that is in for the real one is asked for them."""

import os
from pathlib import Path

import pytest

import jobs

SIZE = ["--cells", "17,11,5", "--steps", "4", "--quiet", "--verify"]


@pytest.fixture
def lfs(tmp_path, monkeypatch) -> Path:
    """Makes the file as the real one does, and keeps the words that it was called with."""
    program = tmp_path / "bin" / "lfs"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "$@" >> "$0.calls"\nfor file; do :; done\n: > "$file"\n')
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return program


@pytest.mark.parametrize("sink", ["hdf5", "hdf5-chunked"])
def test_the_file_is_made_by_lfs(sink, lfs, tmp_path):
    path = tmp_path / "out.h5"
    words = ["--sink", sink, "--lustre-count", "8", "--lustre-size", "1MiB"]
    ended = jobs.rehearse("-o", path, *SIZE, *words)
    assert ended.status == 0, ended
    assert Path(f"{lfs}.calls").read_text() == f"setstripe -c 8 -S 1048576 {path}.partial\n"


def test_what_lfs_refuses_leaves_the_old_file(lfs, tmp_path):
    path = tmp_path / "out.h5"
    path.write_text("old")
    lfs.write_text("#!/bin/sh\necho 'error: setstripe: not a Lustre file system' >&2\nexit 25\n")
    case = tmp_path / "case.toml"
    case.write_text(
        '[case]\nsimulation = "rehearse"\n[time]\nsteps = 3\n[write]\nlustre_count = 4\n'
        '[[output]]\nname = "all"\nquantity = "v"\nevery = 1\n'
    )
    ended = jobs.rehearse("--case", case, "-o", path, "--overwrite")
    assert ended.status == 2, ended
    assert ended.err.count("tailrace-rehearse:") == 1 and "not a Lustre file system. Fix: " in ended.err
    assert path.read_text() == "old" and not Path(f"{path}.partial").exists()
