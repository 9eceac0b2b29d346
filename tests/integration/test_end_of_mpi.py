# SPDX-License-Identifier: BSD-3-Clause
"""What ranks leave to MPI at their end."""

import re
import subprocess
from pathlib import Path

import pytest

import jobs
from native import cannot
from tailrace.messages.preload import profiled
from tailrace.programs import find_program, launch_info
from test_profile_messages import compiler_of

MARKED = re.compile(r"marking (\S+/mca_pmix_\S+) \[0\] as NODELETE")
PROGRAM = "#include <mpi.h>\nint main(int n, char **words) { MPI_Init(&n, &words); return MPI_Finalize(); }\n"


@pytest.fixture
def linker(tmp_path, monkeypatch) -> Path:
    """The dynamic linker says what it does, in a file for each process, whose names begin so."""
    mpi = launch_info(find_program("tailrace-rehearse"))
    if mpi.implementation != "openmpi" or not mpi.version.startswith("4."):
        pytest.skip(f"{mpi.implementation} {mpi.version} has no such plug-in")
    monkeypatch.setenv("LD_DEBUG", "files")
    monkeypatch.setenv("LD_DEBUG_OUTPUT", str(tmp_path / "linker"))
    return tmp_path / "linker"


def check_plugin_stays(linker: Path) -> None:
    """On two ranks. Open MPI 4 unloads it in MPI_Finalize while a thread may be about to call it."""
    texts = [path.read_text(errors="replace") for path in linker.parent.glob(f"{linker.name}.*")]
    assert len(texts) > 2
    ranks = [(found[1], text) for text in texts if (found := MARKED.search(text))]
    assert len(ranks) == 2
    for plugin, text in ranks:
        assert f"{plugin} [0];  destroying link map" not in text


def test_the_plugin_whose_code_a_late_event_calls_stays_loaded(linker):
    ended = jobs.rehearse("--check", "--cells", 2, "--out", linker.with_name("unused"), ranks=2)
    assert ended.status == 0, ended
    check_plugin_stays(linker)


def test_the_plugin_stays_loaded_in_a_profiled_program_of_others(linker, tmp_path):
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(PROGRAM)
    compiler = compiler_of("mpicc") or cannot("there is no mpicc")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("LD_DEBUG")
        subprocess.run([compiler, source, "-o", program], check=True)
    ended = jobs.Job([], 2, profiled(tmp_path / "counts", [str(program)])).wait()
    assert ended.status == 0, ended
    assert len(list((tmp_path / "counts").glob("rank-*.json"))) == 2
    check_plugin_stays(linker)
