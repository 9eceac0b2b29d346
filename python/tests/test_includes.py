# SPDX-License-Identifier: BSD-3-Clause
"""scripts/check_includes.py finds planted violations, and finds none in this checkout."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "check_includes.py"
CLEAN = {
    "include/tailrace/error.hpp": "#include <string>\n",
    "include/tailrace/comm.hpp": '#include "tailrace/error.hpp"\n',
    "src/output/core/plan.hpp": '#include "tailrace/comm.hpp"\n#include "trace/t.hpp"\n',
    "src/trace/t.hpp": "",
    "src/output/core/plan.cpp": '#include "output/core/plan.hpp"\n#include "plan_impl.hpp"\n',
    "src/output/core/plan_impl.hpp": "",
    "src/mpi/comm.cpp": '#include "trace/t.hpp"\n',
    "sims/waves/main.cpp": '#include "model.hpp"\n#include "output/core/plan.hpp"\n',
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
        ("src/base/error.cpp", '#include "tailrace/comm.hpp"', "src/base/error.cpp:1: base uses mpi"),
        ("src/mpi/comm.cpp", '\n#include "output/core/plan.hpp"', "src/mpi/comm.cpp:2: mpi uses output"),
        (
            "src/output/core/a.cpp",
            "#include <tailrace/run/case.hpp>",
            "src/output/core/a.cpp:1: output uses run",
        ),
        ("src/trace/a.cpp", '  #  include "tailrace/comm.hpp"', "src/trace/a.cpp:1: trace uses mpi"),
        ("src/mpi/a.cpp", '#include "../output/core/plan_impl.hpp"', "src/mpi/a.cpp:1: mpi uses output"),
        ("src/run/a.cpp", '#include "waves/model.hpp"', "module run uses the simulation waves"),
        ("sims/waves/a.cpp", '#include "../heat/model.hpp"', "simulation waves uses the simulation heat"),
        ("src/surprise/a.cpp", "", "surprise: this module is missing in the table"),
        ("include/tailrace/error.hpp", '#include "tailrace/error.hpp"', "include cycle: "),
        (
            "src/output/core/a.cpp",
            '#include "output/session/session.hpp"',
            "src/output/core/a.cpp:1: the room core uses the room session, which is not below it",
        ),
        (
            "src/output/sinks/a.cpp",
            '#include "output/strategies/ranks.hpp"',
            "the room sinks uses the room strategies, which is not below it",
        ),
        (
            "include/tailrace/tailrace.hpp",
            '#include "tailrace/run/case.hpp"',
            "a header of ring 1 uses include/tailrace/run/case.hpp, which is of ring 2",
        ),
        (
            "include/tailrace/run/case.hpp",
            '#include "output/core/plan.hpp"',
            "a header of ring 2 uses src/output/core/plan.hpp, which is of ring 3",
        ),
        ("src/output/a.cpp", "", "src/output/a.cpp: src/output is no room of its module"),
        ("src/output/attic/a.cpp", "", "src/output/attic/a.cpp: src/output/attic is no room of its module"),
    ],
)
def test_planted_violation(tmp_path, name, text, message):
    others = (
        "include/tailrace/run/case.hpp",
        "src/output/session/session.hpp",
        "src/output/strategies/ranks.hpp",
    )
    plant(tmp_path, dict.fromkeys(others, "") | {name: text + "\n"})
    done = check(tmp_path)
    assert done.returncode == 1
    assert message in done.stdout


def test_cycle_within_a_module(tmp_path):
    files = {"src/trace/a.hpp": '#include "b.hpp"\n', "src/trace/b.hpp": '#include "a.hpp"\n'}
    plant(tmp_path, files)
    assert "include cycle: src/trace/a.hpp -> src/trace/b.hpp -> src/trace/a.hpp" in check(tmp_path).stdout


def test_this_checkout():
    done = check(ROOT)
    assert done.returncode == 0, done.stdout
