"""scripts/check_includes.py finds planted violations, and finds none in this checkout."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "check_includes.py"
CLEAN = {
    "include/tailrace/base/error.hpp": "#include <string>\n",
    "include/tailrace/mpi/comm.hpp": '#include "tailrace/base/error.hpp"\n',
    "include/tailrace/output/plan.hpp": '#include "tailrace/mpi/comm.hpp"\n#include <tailrace/trace/t.hpp>\n',
    "include/tailrace/trace/t.hpp": "",
    "src/output/plan.cpp": '#include "tailrace/output/plan.hpp"\n#include "plan_impl.hpp"\n',
    "src/output/plan_impl.hpp": "",
    "src/mpi/comm.cpp": '#include "tailrace/trace/t.hpp"\n',
    "sims/waves/main.cpp": '#include "model.hpp"\n#include <tailrace/output/plan.hpp>\n',
    "sims/waves/model.hpp": "",
    "sims/heat/model.hpp": "",
}


def check(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), str(root)], capture_output=True, text=True, check=False
    )


def plant(root: Path, files: dict[str, str]) -> None:
    for name, text in (CLEAN | files).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_clean_tree(tmp_path):
    plant(tmp_path, {})
    done = check(tmp_path)
    assert (done.returncode, done.stdout) == (0, "check_includes: 10 files, 0 violations\n")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("src/base/error.cpp", '#include "tailrace/mpi/comm.hpp"', "src/base/error.cpp:1: base uses mpi"),
        ("src/mpi/comm.cpp", '\n#include "tailrace/output/plan.hpp"', "src/mpi/comm.cpp:2: mpi uses output"),
        ("src/output/a.cpp", "#include <tailrace/run/case.hpp>", "src/output/a.cpp:1: output uses run"),
        ("src/trace/a.cpp", '  #  include "tailrace/mpi/comm.hpp"', "src/trace/a.cpp:1: trace uses mpi"),
        ("src/mpi/a.cpp", '#include "../output/plan_impl.hpp"', "src/mpi/a.cpp:1: mpi uses output"),
        ("src/run/a.cpp", '#include "waves/model.hpp"', "module run uses the simulation waves"),
        ("sims/waves/a.cpp", '#include "../heat/model.hpp"', "simulation waves uses the simulation heat"),
        ("src/surprise/a.cpp", "", "surprise: this module is missing in the table"),
        ("include/tailrace/base/error.hpp", '#include "tailrace/base/error.hpp"', "include cycle: "),
    ],
)
def test_planted_violation(tmp_path, name, text, message):
    plant(tmp_path, {"include/tailrace/run/case.hpp": "", name: text + "\n"})
    done = check(tmp_path)
    assert done.returncode == 1
    assert message in done.stdout


def test_cycle_within_a_module(tmp_path):
    files = {"src/output/a.hpp": '#include "b.hpp"\n', "src/output/b.hpp": '#include "a.hpp"\n'}
    plant(tmp_path, files)
    assert "include cycle: src/output/a.hpp -> src/output/b.hpp -> src/output/a.hpp" in check(tmp_path).stdout


def test_this_checkout():
    done = check(ROOT)
    assert done.returncode == 0, done.stdout
