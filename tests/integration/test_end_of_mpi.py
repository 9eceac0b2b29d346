# SPDX-License-Identifier: BSD-3-Clause
"""What ranks leave to MPI at their end."""

import re

import pytest

import jobs
from tailrace.programs import find_program, launch_info

MARKED = re.compile(r"marking (\S+/mca_pmix_\S+) \[0\] as NODELETE")


def test_the_plugin_whose_code_a_late_event_calls_stays_loaded(tmp_path, monkeypatch):
    """Open MPI 4 unloads it in MPI_Finalize while a thread may be about to call it. The dynamic linker says
    what it does, in a file for each process.
    """
    mpi = launch_info(find_program("tailrace-rehearse"))
    if mpi.implementation != "openmpi" or not mpi.version.startswith("4."):
        pytest.skip(f"{mpi.implementation} {mpi.version} has no such plug-in")
    monkeypatch.setenv("LD_DEBUG", "files")
    monkeypatch.setenv("LD_DEBUG_OUTPUT", str(tmp_path / "linker"))
    ended = jobs.rehearse("--check", "--cells", 2, "--out", tmp_path / "unused", ranks=2)
    assert ended.status == 0, ended
    texts = [path.read_text(errors="replace") for path in tmp_path.glob("linker.*")]
    assert len(texts) > 2
    ranks = [(found[1], text) for text in texts if (found := MARKED.search(text))]
    assert len(ranks) == 2
    for plugin, text in ranks:
        assert f"{plugin} [0];  destroying link map" not in text
