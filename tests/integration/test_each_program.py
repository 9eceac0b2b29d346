# SPDX-License-Identifier: BSD-3-Clause
"""What every program does on several ranks, and all that is run again under each MPI: strategies of each
kind, a checkpoint that other ranks resume from, and an error on one rank that ends all.
"""

import pytest

import jobs
from computations import CASES, STEPS, Computation, Whole
from test_rehearse import world

pytestmark = pytest.mark.mpi_thin
PROGRAMS = ["ultrasound", "seismic", "molecules", "poisson", "rehearse"]
PROGRAMS += ["heat"] if "heat" in CASES else []
each_program = pytest.mark.parametrize("simulation", PROGRAMS)


def reached(simulation: str, computation: Computation, whole: Whole, ranks: int | None) -> None:
    assert jobs.account(computation.run_dir)["status"] == "finished"
    assert jobs.recorded_steps(computation.run_dir / "output.h5") == STEPS
    whole.assert_reached(simulation, computation.datasets(), ranks)


@each_program
@pytest.mark.parametrize("strategy", ["blocking", "threads", "ranks:1"])
def test_two_ranks_write_what_one_does(simulation, strategy, tmp_path, whole):
    computation = Computation(simulation, tmp_path)
    ended = computation.start("--write", strategy, ranks=world(2, strategy)).wait()
    assert ended.status == 0, ended
    reported = jobs.account(computation.run_dir)
    assert reported["ranks"] == 2 and reported["strategy"].split(":")[0] == strategy.split(":")[0]
    reached(simulation, computation, whole, None)


@each_program
def test_killed_on_two_ranks_and_gone_on_with_on_three(simulation, tmp_path, whole):
    computation = Computation(simulation, tmp_path)
    ended = computation.start("--fault", "kill:step=26", ranks=2).wait()
    assert ended.status != 0 and ended.seconds < jobs.ENDS_WITHIN_S, ended
    assert computation.steps_saved()[-1] in (14, 21)
    ended = computation.start("--resume", ranks=3).wait()
    assert ended.status == 0, ended
    assert jobs.account(computation.run_dir)["resumed_from"] in (14, 21)
    reached(simulation, computation, whole, None)


@each_program
def test_an_error_on_one_rank_ends_all(simulation, tmp_path):
    computation = Computation(simulation, tmp_path)
    fault = "write:rank=1,step=12,error=EIO"
    ended = computation.start("--write", "blocking", "--fault", fault, ranks=2).wait()
    assert ended.status == 3 and ended.seconds < jobs.ENDS_WITHIN_S, ended
    error = jobs.assert_failed(computation.run_dir)["error"]
    assert error["rank"] == 1 and "Input/output error" in error["message"]
    assert len(jobs.messages(ended, computation.program.name)) == 1, ended
