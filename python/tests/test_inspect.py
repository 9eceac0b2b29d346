# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace inspect`: meanings, completeness, checksums, damage."""

import json

import h5py
import numpy as np
import pytest
import xxhash

import command
import run_dirs
from tailrace import kwave
from tailrace.inspect import inspect_file, inspect_path


@pytest.mark.parametrize(
    ("path", "quantity", "unit", "reduction"),
    [
        ("/p/3", "pressure", "Pa", "series"),
        ("uy_non_staggered", "velocity y", "m/s", "series"),
        ("p_max_all", "pressure", "Pa", "maximum, whole grid"),
        ("ux_rms/1", "velocity x, staggered", "m/s", "root mean square"),
        ("c0", "sound speed", "m/s", ""),
        ("dt", "time step", "s", ""),
    ],
)
def test_meaning_of_k_wave_names(path, quantity, unit, reduction):
    assert kwave.meaning(path) == kwave.Meaning(quantity, unit, reduction)


def test_unknown_names_have_no_meaning():
    assert kwave.meaning("values") is None
    assert kwave.meaning("x_max") is None


def test_datasets_of_an_output_file(tmp_path):
    run_dirs.write_output(tmp_path / "out.h5", recorded=40, closed=False)
    info = inspect_file(tmp_path / "out.h5")
    entries = {entry.path: entry for entry in info.datasets}
    assert (info.steps_planned, info.steps_recorded, info.writers, info.closed) == (60, 40, 2, False)
    assert (entries["p/1"].samples, entries["p/1"].samples_stored) == (30, 50)
    assert entries["p_max/1"].samples == 0
    assert entries["Nx"].value == run_dirs.GRID[0]
    assert entries["p/1"].attributes["data_type"] == "float"
    assert info.notes and not info.problems


def test_checksum_is_over_the_recorded_values_in_logical_order(tmp_path):
    run_dirs.write_output(tmp_path / "out.h5", recorded=40, closed=False)
    with h5py.File(tmp_path / "out.h5") as file:
        values = file["p/1"][:30]
    entries = {entry.path: entry for entry in inspect_file(tmp_path / "out.h5", verify=True).datasets}
    assert entries["p/1"].scan.xxh3 == xxhash.xxh3_64_hexdigest(np.ascontiguousarray(values))
    assert entries["p/1"].scan.maximum == pytest.approx(values.max())


def test_storage_does_not_change_the_checksum(tmp_path):
    values = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["plain"] = values
        file.create_dataset("chunked", data=values, chunks=(1, 2, 2), compression="gzip")
        file.create_dataset("big_endian", data=values, dtype=">f4")
    sums = {entry.scan.xxh3 for entry in inspect_file(tmp_path / "x.h5", verify=True).datasets}
    assert len(sums) == 1


def test_verify_finds_nan(tmp_path):
    run_dirs.write_output(tmp_path / "out.h5")
    assert command.tailrace("inspect", tmp_path / "out.h5", "--verify").status == 0
    with h5py.File(tmp_path / "out.h5", "a") as file:
        file["p_final"][0, 0, :3] = np.nan
        file["p/1"][2, 0, 0, 0] = np.inf
    assert command.tailrace("inspect", tmp_path / "out.h5").status == 0
    answer = command.tailrace("inspect", tmp_path / "out.h5", "--verify", "--json")
    problems = json.loads(answer.out)["file"]["problems"]
    assert answer.status == 1
    assert problems == ["p/1: 1 values are infinite", "p_final: 3 values are NaN"]


@pytest.mark.parametrize("closed", [True, False])
def test_rows_behind_the_steps_that_were_done_may_be_nan_and_no_others(tmp_path, closed):
    run_dirs.write_output(tmp_path / "out.h5")
    residuals = [1.0, 0.5, 0.2, np.nan, np.nan] if closed else [np.nan] * 5
    with h5py.File(tmp_path / "out.h5", "a") as file:
        file["history/step"] = [0, 30, 60, 90, 120]  # 60 were done
        file["history/residual"] = residuals
        if not closed:
            file["t_index"][...] = 0
    assert inspect_file(tmp_path / "out.h5", verify=True).problems == []
    with h5py.File(tmp_path / "out.h5", "a") as file:
        file["history/residual"][3] = np.inf
        if closed:
            file["history/residual"][2] = np.nan
    problems = inspect_file(tmp_path / "out.h5", verify=True).problems
    expected = ["history/residual: 1 values are NaN"] if closed else []
    assert problems == [*expected, "history/residual: 1 values are infinite"]


def test_a_commit_mark_beyond_the_plan_is_a_problem(tmp_path):
    run_dirs.write_output(tmp_path / "out.h5")
    with h5py.File(tmp_path / "out.h5", "a") as file:
        file["tailrace_record"][...] = 61
    assert inspect_file(tmp_path / "out.h5").problems


def test_a_file_that_does_not_say_how_many_steps_were_planned(tmp_path):
    run_dirs.write_output(tmp_path / "out.h5")
    with h5py.File(tmp_path / "out.h5", "a") as file:
        del file["Nt"]
    info = inspect_file(tmp_path / "out.h5")
    assert info.closed and not info.notes


def test_damaged_and_foreign_files(tmp_path):
    run_dirs.write_output(tmp_path / "out.h5")
    data = (tmp_path / "out.h5").read_bytes()
    (tmp_path / "short.h5").write_bytes(data[:-5000])
    (tmp_path / "text.h5").write_text("hello")
    for name, reason in (
        ("short.h5", "truncated"),
        ("text.h5", "not an HDF5 file"),
        ("none.h5", "no such file"),
    ):
        answer = command.tailrace("inspect", tmp_path / name)
        assert answer.status == 2
        assert reason in answer.err and name in answer.err and answer.err.count("\n") == 1


def test_run_directory_shows_the_account(tmp_path):
    directory = run_dirs.write_run(tmp_path / "run")
    text = command.tailrace("inspect", directory).out
    assert "finished" in text and "60 of 60" in text and "trace/rank-00001.trace" in text and "p/1" in text
    answer = json.loads(command.tailrace("inspect", directory, "--json").out)
    assert answer["ok"] and answer["run"]["ranks"] == 2 and answer["file"]["steps_recorded"] == 60


def test_run_directory_with_a_truncated_output_reports_it(tmp_path):
    directory = run_dirs.write_run(tmp_path / "run")
    data = (directory / "output.h5").read_bytes()
    (directory / "output.h5").write_bytes(data[: len(data) // 2])
    answer = command.tailrace("inspect", directory)
    assert answer.status == 1 and "truncated" in answer.out


def test_directory_that_is_no_run(tmp_path):
    assert command.tailrace("inspect", tmp_path).status == 2
    with pytest.raises(kwave.FileError, match=r"run\.json"):
        inspect_path(tmp_path)
