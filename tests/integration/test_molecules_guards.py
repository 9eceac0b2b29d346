# SPDX-License-Identifier: BSD-3-Clause
"""Molecules that go wrong end the run on all ranks: one message with the step and the molecule, no hang."""

import json
import re
from pathlib import Path

import pytest

import jobs

CASE = """
[case]
simulation = "molecules"
[time]
dt = DT
steps = 20
[model]
cutoff = 2.5
[start]
file = "start.inp"
[[output]]
name = "obs"
quantity = "observables"
every = 10
"""

HEAD = """mardyn trunk 20160512
Length 9 10 11
NumberOfComponents 1
1 0 0 0 0
0 0 0  1.0 1.0 1.0 0 0
0 0 0
1e+10
NumberOfMolecules {count}
MoleculeFormat ICRV
"""

LATTICE = [f"{k + 1} 1 {k % 5 * 1.8 + 0.9} {k // 5 % 5 * 2 + 1} {k // 25 * 2.2 + 1.1}" for k in range(125)]
STILL = [f"{line} 0 0 0" for line in LATTICE]


def run_job(molecules: list[str], directory: Path, ranks: int, dt: float = 0.004) -> jobs.Ended:
    (directory / "start.inp").write_text(HEAD.format(count=len(molecules)) + "\n".join(molecules) + "\n")
    (directory / "case.toml").write_text(CASE.replace("DT", str(dt)))
    words = ["--case", directory / "case.toml", "--out", directory / "run", "--quiet"]
    return jobs.Job(words, ranks, command=[str(jobs.MOLECULES)]).wait()


def assert_ends(ended: jobs.Ended, status: int, *words: str) -> None:
    assert ended.status == status, ended
    for word in words:
        assert ended.err.count(word) == 1, (word, ended)


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_step_too_long(ranks, tmp_path):
    molecules = [*STILL[:61], LATTICE[61] + " 0 700 0", *STILL[62:]]
    assert_ends(run_job(molecules, tmp_path, ranks), 3, "step 1: molecule 62 moved by more than the cutoff")


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_failure_in_between_says_how_far_the_run_came(ranks, tmp_path):
    """It flies into its neighbours, and out of them too fast."""
    molecules = [*STILL[:61], LATTICE[61] + " 300 0 0", *STILL[62:]]
    ended = run_job(molecules, tmp_path, ranks)
    assert ended.status == 3, ended
    (step,) = re.findall(r"step (\d+): molecule", ended.err)
    account = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (account["status"], account["steps"], account["ranks"]) == ("failed", int(step) - 1, ranks)
    assert account["steps"] > 0


@pytest.mark.parametrize("ranks", [1, 3])
def test_molecules_that_fly_apart(ranks, tmp_path):
    """Two that are almost on one point: the force is finite, what follows from it is not."""
    number, kind, x, *rest = LATTICE[61].split()
    molecules = [*STILL, " ".join(["126", kind, str(float(x) + 1e-12), *rest, "0 0 0"])]
    assert_ends(run_job(molecules, tmp_path, ranks), 3, f"step 1: molecule {number} moved by more than")


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_force_that_is_not_finite(ranks, tmp_path):
    molecules = [*STILL, "126 1 0 0 0 0 0 0", "127 1 1e-200 0 0 0 0 0"]
    assert_ends(run_job(molecules, tmp_path, ranks), 3, "step 0: forces that are not finite", "126, 127")


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize(
    ("state", "word"),
    [("1 2 3 nan 0 0", "molecule 126"), (" ".join(STILL[7].split()[2:]), "molecules 8 and 126")],
)
def test_a_start_that_is_none(state, word, ranks, tmp_path):
    """A number that is none, and a molecule where there is one already."""
    assert_ends(run_job([*STILL, f"126 1 {state}"], tmp_path, ranks), 2, word)
