# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace compare`: the measures against a direct calculation, and every way two files can disagree."""

import json
import math

import h5py
import numpy as np
import pytest

import command
import run_dirs
from tailrace import compare as module
from tailrace import kwave
from tailrace.compare import compare_files

RANDOM = np.random.default_rng(11)


def write(path, **datasets):
    with h5py.File(path, "w") as file:
        for name, value in datasets.items():
            file[name.replace("__", "/")] = value
    return path


def only(comparison):
    (entry,) = comparison.datasets
    return entry


def expected(a, b):
    """The three measures of one step, straight from their definition."""
    a, b = (np.asarray(v, dtype=float).reshape(-1, v.shape[-1]) for v in (a, b))
    norms = [lambda v: np.sqrt((v**2).sum()), lambda v: np.abs(v).sum(axis=1).max()]
    ratios = [max(norm(a - b) / norm(a), norm(a - b) / norm(b)) for norm in norms]
    return [*ratios, np.abs(a - b).max() / max(np.abs(a).max(), np.abs(b).max())]


@pytest.fixture(params=[4_000_000, 50], ids=["whole", "in batches"])
def batch_size(request, monkeypatch):
    monkeypatch.setattr(module, "BATCH_ELEMENTS", request.param)


@pytest.mark.parametrize(
    ("name", "shape", "axis"),
    [
        ("p__1", (7, 4, 5, 6), 0),
        ("p", (1, 9, 120), 1),
        ("p", (1, 9, 5), 1),
        ("p_final", (4, 5, 6), None),
        ("p_max", (1, 1, 333), None),
    ],
)
def test_measures_follow_the_definition_per_step(tmp_path, batch_size, name, shape, axis):
    a = RANDOM.normal(size=shape).astype(np.float32)
    b = (a + 1e-3 * RANDOM.normal(size=shape)).astype(np.float32)
    entry = only(
        compare_files(write(tmp_path / "a", **{name: a}), write(tmp_path / "b", **{name: b}), threshold=1.0)
    )
    steps = [(a, b)] if axis is None else [(a.take(i, axis), b.take(i, axis)) for i in range(shape[axis])]
    if axis == 1:
        steps = [(x.reshape(1, -1), y.reshape(1, -1)) for x, y in steps]
    each = np.array([expected(x, y) for x, y in steps])
    assert entry.steps == len(steps)
    assert [entry.frobenius, entry.infinity, entry.maximum] == pytest.approx(each.max(axis=0), rel=1e-6)
    assert entry.worst_step == int(each.max(axis=1).argmax())


def test_counts_the_steps_over_the_threshold(tmp_path):
    a = np.ones((6, 2, 3, 4), dtype=np.float32)
    b = a.copy()
    b[2, 0, 0, 0] += 0.5
    b[4, 1, 2, 3] += 1e-5
    result = compare_files(write(tmp_path / "a", p__1=a), write(tmp_path / "b", p__1=b), threshold=1e-3)
    entry = only(result)
    assert (entry.steps, entry.steps_over, entry.first_over, entry.worst_step) == (6, 1, 2, 2)
    assert result.differs
    assert only(compare_files(tmp_path / "a", tmp_path / "b")).steps_over == 2
    assert not compare_files(tmp_path / "a", tmp_path / "b", threshold=1.0).differs


def test_values_samples_of_other_simulations_run_along_the_first_axis(tmp_path):
    a = np.ones((5, 3), dtype=np.float32)
    for name in ("a", "b"):
        write(tmp_path / name, snap__values=a, snap__step=np.arange(5))
    entries = {entry.path: entry for entry in compare_files(tmp_path / "a", tmp_path / "b").datasets}
    assert entries["snap/values"].steps == 5
    assert entries["snap/step"].steps == 1


def test_zero_norms(tmp_path):
    zero, one = np.zeros((1, 2, 2), dtype=np.float32), np.ones((1, 2, 2), dtype=np.float32)
    write(tmp_path / "zero", p_final=zero)
    write(tmp_path / "one", p_final=one)
    assert not compare_files(tmp_path / "zero", tmp_path / "zero").differs
    entry = only(compare_files(tmp_path / "zero", tmp_path / "one", threshold=1e9))
    assert (entry.frobenius, entry.infinity, entry.maximum) == (math.inf, math.inf, 1.0)
    assert entry.differs


def test_nan_at_the_same_place_counts_as_equal_and_is_reported(tmp_path):
    a = np.array([[[1.0, np.nan, np.inf, 4.0]]], dtype=np.float32)
    entry = only(compare_files(write(tmp_path / "a", p_final=a), write(tmp_path / "b", p_final=a)))
    assert (entry.differs, entry.nan_in_both, entry.not_numbers, entry.peak) == (False, 1, 0, 4.0)


@pytest.mark.parametrize(
    ("one", "other"), [(np.nan, 1.0), (np.inf, 1.0), (np.inf, -np.inf), (np.nan, np.inf)]
)
def test_nan_or_infinity_on_one_side_is_a_difference_at_any_threshold(tmp_path, one, other):
    write(tmp_path / "a", p_final=np.array([[[1.0, one]]], dtype=np.float32))
    write(tmp_path / "b", p_final=np.array([[[1.0, other]]], dtype=np.float32))
    entry = only(compare_files(tmp_path / "a", tmp_path / "b", threshold=1e30))
    assert (entry.not_numbers, entry.frobenius, entry.differs) == (1, math.inf, True)


def test_integers_are_compared_exactly(tmp_path):
    large = np.array([[[2**60]]], dtype=np.uint64)
    write(tmp_path / "a", index=large)
    write(tmp_path / "b", index=large + np.uint64(1))
    assert only(compare_files(tmp_path / "a", tmp_path / "b")).max_abs_difference == 1.0
    assert compare_files(tmp_path / "b", tmp_path / "a").differs
    assert not compare_files(tmp_path / "a", tmp_path / "a").differs


def test_missing_shape_type_and_kind(tmp_path):
    ones = np.ones((1, 2, 3), dtype=np.float32)
    write(tmp_path / "a", x=ones, shape=ones, kind=ones, group=ones, name=np.bytes_("text"))
    write(
        tmp_path / "b",
        y=ones,
        shape=ones[:, :1],
        kind=ones.astype(np.uint64),
        group__inner=ones,
        name=np.bytes_("text"),
    )
    problems = {
        entry.path: entry.problem
        for entry in compare_files(tmp_path / "a", tmp_path / "b", threshold=1).datasets
    }
    assert problems["x"].startswith("missing in") and problems["x"].endswith("b")
    assert problems["y"].startswith("missing in") and problems["y"].endswith("a")
    assert "shapes differ" in problems["shape"]
    assert "types differ" in problems["kind"]
    assert "group" in problems["group"]
    assert "cannot be compared" in problems["name"]


def test_precision_matters_only_without_a_threshold(tmp_path):
    values = np.ones((1, 2, 3))
    write(tmp_path / "single", p_final=values.astype(np.float32))
    write(tmp_path / "double", p_final=values)
    assert compare_files(tmp_path / "single", tmp_path / "double").differs
    result = compare_files(tmp_path / "single", tmp_path / "double", threshold=1e-6)
    assert not result.differs
    assert "types differ" in only(result).note


def test_commit_mark_is_metadata_unless_named(tmp_path):
    for name, slots in (("a", [3, 4]), ("b", [4])):
        write(tmp_path / name, tailrace_record=np.array([[slots]], dtype=np.uint64), Nx=np.ones((1, 1, 1)))
    assert not compare_files(tmp_path / "a", tmp_path / "b").differs
    assert compare_files(tmp_path / "a", tmp_path / "b", "tailrace_record").differs


def test_path_names_a_dataset_or_a_group(tmp_path):
    ones = np.ones((2, 1, 1, 3), dtype=np.float32)
    write(tmp_path / "a", p__2=ones, p__10=ones, p_final=ones[0])
    write(tmp_path / "b", p__2=ones, p__10=ones, p_final=2 * ones[0])
    group = compare_files(tmp_path / "a", tmp_path / "b", "/p/")
    assert [entry.path for entry in group.datasets] == ["p/2", "p/10"]
    assert not group.differs
    assert compare_files(tmp_path / "a", tmp_path / "b", "p_final").differs
    with pytest.raises(kwave.FileError, match="nothing"):
        compare_files(tmp_path / "a", tmp_path / "b", "nothing")


def test_recorded_part_of_a_killed_run_equals_the_full_run(tmp_path):
    run_dirs.write_output(tmp_path / "full.h5")
    run_dirs.write_output(tmp_path / "killed.h5", recorded=40, closed=False)
    assert compare_files(tmp_path / "full.h5", tmp_path / "killed.h5").differs
    result = compare_files(tmp_path / "full.h5", tmp_path / "killed.h5", recorded=True)
    assert not result.differs
    assert {entry.path: entry.steps for entry in result.datasets}["p/1"] == 40 - run_dirs.START + 1
    with h5py.File(tmp_path / "killed.h5", "a") as file:
        file["p/1"][29, 0, 0, 0] += 1.0
    assert compare_files(tmp_path / "full.h5", tmp_path / "killed.h5", recorded=True).differs


def test_command_exit_status_and_directories(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        run_dirs.write_output(tmp_path / name / "output.h5")
    same = command.tailrace("compare", tmp_path / "one", tmp_path / "two")
    assert same.status == 0 and "equal" in same.out
    with h5py.File(tmp_path / "two" / "output.h5", "a") as file:
        file["p_final"][...] = 2 * file["p_final"][...]
    other = command.tailrace("compare", tmp_path / "one", tmp_path / "two", "--threshold", "1e-3")
    assert other.status == 1 and "1 of" in other.out
    answer = json.loads(
        command.tailrace("compare", tmp_path / "one", tmp_path / "two", "p_final", "--json").out
    )
    assert answer["differs"] and answer["steps_over"] == 1
    assert answer["frobenius"] == pytest.approx(1.0)


def test_command_writes_infinity_as_text_in_json(tmp_path):
    write(tmp_path / "a", p_final=np.zeros((1, 1, 2)))
    write(tmp_path / "b", p_final=np.ones((1, 1, 2)))
    answer = json.loads(
        command.tailrace("compare", tmp_path / "a", tmp_path / "b", "--json").out, parse_constant=pytest.fail
    )
    assert answer["infinity"] == "inf"


def test_command_bad_input(tmp_path):
    run_dirs.write_output(tmp_path / "good.h5")
    (tmp_path / "text.h5").write_text("not HDF5")
    data = (tmp_path / "good.h5").read_bytes()
    (tmp_path / "short.h5").write_bytes(data[: len(data) // 2])
    (tmp_path / "empty").mkdir()
    for bad, reason in (
        ("none.h5", "no such file"),
        ("text.h5", "not an HDF5 file"),
        ("short.h5", "truncated"),
    ):
        answer = command.tailrace("compare", tmp_path / "good.h5", tmp_path / bad)
        assert answer.status == 2
        assert reason in answer.err and bad in answer.err and answer.err.count("\n") == 1
    assert command.tailrace("compare", tmp_path / "good.h5", tmp_path / "empty").status == 2
    assert command.tailrace("compare", tmp_path / "good.h5", tmp_path / "good.h5", "nothing").status == 2


@pytest.mark.parametrize("threshold", [math.nan, -1e-3])
def test_a_threshold_that_is_none(threshold, tmp_path):
    a = write(tmp_path / "a.h5", p=np.ones(3))
    with pytest.raises(ValueError, match="a threshold of"):
        compare_files(a, a, threshold=threshold)
