# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace test` on small checkouts: totals, filters, failures, and that nothing run is a failure."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CTEST_FILE = """
add_test(native.good true)
add_test(native.other true)
add_test(native.long true)
set_tests_properties(native.long PROPERTIES LABELS "full")
"""
# What Open MPI's launchers read the place of their directories from.
LAUNCHERS_DIRECTORY = "OMPI_MCA_orte_tmpdir_base"
PYTEST_FILE = """
import pytest
def test_good(): pass
def test_skipped(): pytest.skip("no")
@pytest.mark.full
def test_long(): pass
"""


def starts_open_mpi() -> bool:
    if shutil.which("mpirun") is None:
        return False
    said = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False).stdout
    return "Open MPI" in said or "OpenRTE" in said


@pytest.fixture
def checkout(tmp_path):
    """A checkout with the real package, and tests of its own."""
    shutil.copytree(
        ROOT / "python/src", tmp_path / "python/src", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "CMakeLists.txt").touch()
    (tmp_path / "build").mkdir()
    (tmp_path / "build/CTestTestfile.cmake").write_text(CTEST_FILE)
    (tmp_path / "python/tests").mkdir()
    (tmp_path / "python/tests/test_small.py").write_text(PYTEST_FILE)
    return tmp_path


def run(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the command without worker processes; if it does not end, says what each of its processes does."""
    outer = {name: value for name, value in os.environ.items() if name != LAUNCHERS_DIRECTORY}
    environment = outer | {
        "PYTHONPATH": str(checkout / "python/src"),
        "PYTEST_XDIST_AUTO_NUM_WORKERS": "0",
        "PYTHONFAULTHANDLER": "1",
    }
    command = [sys.executable, "-m", "tailrace", "test", *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdout=pipe, stderr=pipe, text=True, env=environment, start_new_session=True
    ) as started:
        try:
            out, err = started.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGABRT)
            out, err = started.communicate(timeout=30)
            pytest.fail(f"{shlex.join(command)} did not end:\n{out}\n{err}")
    return subprocess.CompletedProcess(command, started.returncode, out, err)


def counts(checkout: Path, *arguments: str) -> tuple[int, int, int]:
    answer = json.loads(run(checkout, "--json", *arguments).stdout)
    return answer["native"]["passed"], answer["python"]["passed"], answer["skipped"]


def test_total_of_both_kinds(checkout):
    done = run(checkout)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("3 tests passed (2 native, 1 python), 1 skipped, in ")


CTEST_LAUNCHES = """
add_test(mpi.x bash -c "cp /bin/sleep mpirun; ./mpirun 0.4; ./mpirun 0.4")
add_test("mpi.x: a case" echo "ok     a case [ranks 1, 2] 12.50 s")
"""


def test_durations_report_parts_launches_and_the_slowest(checkout):
    (checkout / "build/CTestTestfile.cmake").write_text(CTEST_LAUNCHES)
    lines = run(checkout, "--durations").stderr.splitlines()
    part = r"native: 2 tests, 2 launches of MPI programs, the cores busy for [0-9]+%$"
    assert any(re.search(part, line) for line in lines), lines
    files = lines[lines.index("the slowest 2 files:") + 1 :][:2]
    time, unit, name = files[0].split()
    assert name == "mpi.x" and (unit == "ms" or float(time) < 12), "a launch, without its cases again"
    slowest = lines[lines.index("the slowest 3 tests:") + 1]
    assert "12.5 s" in slowest and slowest.endswith("mpi.x: a case")


@pytest.mark.skipif(not starts_open_mpi(), reason="mpirun is not Open MPI's")
def test_launchers_have_a_directory_that_goes_with_the_suite(checkout):
    look = f"pwd >'{checkout}/place'; ls -d ompi.*/kept ompi.*/pid.* >'{checkout}/found'"
    (checkout / "look.sh").write_text(f'cd "${LAUNCHERS_DIRECTORY}" && {{ {look}; }}\n')
    (checkout / "build/CTestTestfile.cmake").write_text(
        f'add_test(launch mpirun -n 1 sh "{checkout}/look.sh")\n'
    )
    assert counts(checkout, "launch") == (1, 0, 0)
    kept, own = (Path(line) for line in (checkout / "found").read_text().split())
    assert kept.parent == own.parent, "the directory is the one that launchers use"
    assert not Path((checkout / "place").read_text().strip()).exists()


def test_full_and_name(checkout):
    assert counts(checkout, "--full") == (3, 2, 1)
    assert counts(checkout, "good") == (1, 1, 0)
    assert counts(checkout, "native.other") == (1, 0, 0)


def test_failures_of_either_kind(checkout):
    (checkout / "build/CTestTestfile.cmake").write_text("add_test(native.bad false)")
    done = run(checkout)
    assert done.returncode == 1
    assert "failed: native.bad" in done.stderr and done.stdout.startswith("1 of 2 tests failed")
    (checkout / "python/tests/test_small.py").write_text("def test_bad(): assert False\n")
    assert json.loads(run(checkout, "--json").stdout)["failed"] == ["native.bad", "test_bad"]


def test_nothing_run_is_a_failure(checkout):
    done = run(checkout, "no_such_test")
    assert done.returncode == 1
    assert "no test ran whose name contains 'no_such_test'" in done.stderr


def test_broken_test_file_is_a_failure(checkout):
    (checkout / "python/tests/test_small.py").write_text("import nothing_of_this_name\n")
    assert run(checkout).returncode == 1
