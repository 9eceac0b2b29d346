"""The memory that a run predicts before its first step against the most that it used."""

import pytest

import jobs
from kwave_input import small_input

pytestmark = pytest.mark.mpi
GRID = (96, 96, 96)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    return small_input(GRID, steps=12).write(tmp_path_factory.mktemp("large") / "large.h5")


@pytest.mark.parametrize(("ranks", "threads"), [(1, 1), (1, 2), (2, 1), (3, 1)])
def test_prediction_holds(ranks, threads, large, tmp_path):
    run_dir = tmp_path / "run"
    options = ["--quiet", "-t", threads, "--set", "record.p_raw=true", "--set", "record.p_max_all=true"]
    ended = jobs.run("--case", large, "--out", run_dir, *options, ranks=ranks)
    assert ended.status == 0, ended
    told = jobs.account(run_dir)
    for peak, predicted in zip(told["peak_memory_bytes"], told["predicted_memory_bytes"], strict=True):
        assert predicted == pytest.approx(peak, rel=0.10), told["per_rank"]
