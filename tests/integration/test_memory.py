# SPDX-License-Identifier: BSD-3-Clause
"""The memory that a run predicts before its first step against the most that it used."""

from pathlib import Path

import pytest

import jobs
from kwave_input import small_input
from matrix import pairwise

GRID = (96, 96, 96)


WAVES = """
[case]
simulation = "seismic"
[domain]
cells = [96, 96, 96]
spacing_m = [10, 10, 10]
[time]
dt_s = 0.001
steps = 12
[model]
equations = "isotropic"
vp_m_s = 2500
[source]
wavelet = "ricker"
fcut_hz = 20
cell = [48, 48, 48]
[boundary]
kind = "zero"
[[output]]
name = "plane"
quantity = "p"
select = {plane = {y = 48}}
every = 2
[checkpoint]
every = 3
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    return small_input(GRID, steps=12).write(tmp_path_factory.mktemp("large") / "large.h5")


@pytest.mark.parametrize(("ranks", "threads"), [(1, 1), (1, 2), (2, 1), (3, 1)])
def test_prediction_holds(ranks, threads, large, tmp_path):
    run_dir = tmp_path / "run"
    options = ["--quiet", "-t", threads, "--set", "record.p_raw=true", "--set", "record.p_max_all=true"]
    ended = jobs.run("--case", large, "--out", run_dir, *options, ranks=ranks)
    assert ended.status == 0, ended
    assert_predicted(run_dir)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_prediction_holds_with_checkpoints(ranks, tmp_path):
    """Their buffers take what the state takes, which is less than all that a simulation holds."""
    case, run_dir = tmp_path / "case.toml", tmp_path / "run"
    case.write_text(WAVES)
    ended = jobs.seismic("--case", case, "--out", run_dir, "--quiet", ranks=ranks)
    assert ended.status == 0, ended
    assert jobs.account(run_dir)["checkpoints"] == 3
    assert_predicted(run_dir)


def shrinks(compress: str, local: bool, _: int) -> bool:
    return compress != "none" or local


@pairwise("compress, local, ranks", ["none", "zstd", "zstd:9"], [False, True], [1, 3], allowed=shrinks)
def test_no_more_than_predicted(compress, local, ranks, tmp_path):
    """What is compressed, and parts on nodes, take at most what was said, as cells may become smaller."""
    if compress != "none":
        jobs.needs_zstd()
    case, run_dir = tmp_path / "case.toml", tmp_path / "run"
    case.write_text(WAVES)
    values = {"compress": compress} | ({"local": str(tmp_path / "node")} if local else {})
    words = [word for key, value in values.items() for word in ("--set", f'checkpoint.{key}="{value}"')]
    ended = jobs.seismic("--case", case, "--out", run_dir, "--quiet", *words, ranks=ranks)
    assert ended.status == 0, ended
    reported = jobs.account(run_dir)
    for peak, predicted in zip(
        reported["peak_memory_bytes"], reported["predicted_memory_bytes"], strict=True
    ):
        assert 0.6 * predicted < peak < 1.1 * predicted, reported["per_rank"]


def assert_predicted(run_dir: Path) -> None:
    reported = jobs.account(run_dir)
    for peak, predicted in zip(
        reported["peak_memory_bytes"], reported["predicted_memory_bytes"], strict=True
    ):
        assert predicted == pytest.approx(peak, rel=0.10), reported["per_rank"]
