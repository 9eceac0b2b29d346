# SPDX-License-Identifier: BSD-3-Clause
"""Poisson's equation: the direct solution, bad input, the end by the residual, and runs that are resumed."""

import json
import re
import signal

import h5py
import numpy as np
import pytest

import jobs
import tailrace

CASE = """
[case]
simulation = "poisson"
[domain]
cells = [7, 6]
spacing_m = [0.1, 0.125]
sides = ["dirichlet", "periodic"]
[problem]
rhs = "rhs.h5:/f"
boundary = 0.5
[solver]
method = "cg"
blocks = [3, 4]
tolerance = 1e-11
check_every = 20
[time]
steps = 800
[[output]]
name = "u"
quantity = "u"
reduce = "final"
type = "float64"
[[output]]
name = "left"
quantity = "residual"
reduce = "final"
type = "float64"
[[output]]
name = "some"
quantity = "rhs"
select = {points = [[6, 5, 0], [0, 0, 0]]}
at = [3, 7]
type = "float64"
"""


def run(directory, name: str, *words, ranks: int = 1, text: str = CASE):
    case = directory / f"{name}.toml"
    case.write_text(text)
    out = directory / name
    ended = jobs.Job(["--case", case, "--out", out, *words], ranks, command=[str(jobs.POISSON)]).wait()
    return ended, out


def test_unknowns_lie_where_files_and_python_say(tmp_path):
    """The solution by formula has its zeros on Dirichlet sides, and a whole period along the other axis."""
    text = """
[case]
simulation = "poisson"
[domain]
cells = [7, 6]
sides = ["dirichlet", "periodic"]
[problem]
rhs = "sines"
[solver]
method = "cg"
tolerance = 1e-13
[time]
steps = 100
[[output]]
name = "u"
quantity = "u"
reduce = "final"
type = "float64"
"""
    ended, out = run(tmp_path, "placed", text=text)
    assert ended.status == 0, ended
    u = tailrace.open(out)["u"].isel(time=0)
    assert u.x.values == pytest.approx(np.arange(1, 8) / 8) and u.y.values == pytest.approx(np.arange(6) / 6)
    expected = np.sin(np.pi * u.x.values) * np.sin(2 * np.pi * u.y.values)[:, None]
    assert np.allclose(u.values / np.abs(u.values).max(), expected / np.abs(expected).max(), atol=1e-9)
    origin = re.search(r'Format="XML">([^<]*)<', (out / "output.xdmf").read_text())
    assert [float(at) for at in origin[1].split()] == [0, 0, 0.125]  # z, y, x


@pytest.fixture
def rhs(tmp_path):
    values = np.random.default_rng(5).normal(size=(6, 7))
    with h5py.File(tmp_path / "rhs.h5", "w") as file:
        file["f"] = values
        file["bad"] = np.where(np.arange(42).reshape(6, 7) == 22, np.nan, values)
        file["short"] = values[:-1]
        file["whole"] = np.arange(42).reshape(6, 7)
    return values


def second_differences(n: int, spacing: float, periodic: bool) -> np.ndarray:
    """-d2/dx2 as a matrix."""
    matrix = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    if periodic:
        matrix[0, -1] = matrix[-1, 0] = -1
    return matrix / spacing**2


def direct(rhs: np.ndarray, wall: float) -> np.ndarray:
    (ny, nx), h = rhs.shape, (0.1, 0.125)
    along_x, along_y = second_differences(nx, h[0], False), second_differences(ny, h[1], True)
    right = rhs.copy()
    right[:, [0, -1]] += wall / h[0] ** 2
    matrix = np.kron(np.eye(ny), along_x) + np.kron(along_y, np.eye(nx))
    return np.linalg.solve(matrix, right.ravel()).reshape(ny, nx)


@pytest.mark.parametrize(("method", "ranks"), [("jacobi", 2), ("gauss-seidel", 1), ("cg", 3)])
def test_every_method_comes_to_the_direct_solution(method, ranks, rhs, tmp_path):
    text = CASE.replace('"cg"', f'"{method}"')
    ended, out = run(tmp_path, method, ranks=ranks, text=text)
    assert ended.status == 0, ended
    account = json.loads((out / "run.json").read_text())
    assert account["status"] == "finished" and account["results"]["converged"]
    assert account["steps"] < 800 and account["steps"] % 20 == 0
    found = jobs.read_datasets(out / "output.h5")
    exact = direct(rhs, 0.5)
    assert np.allclose(found["u/values"].reshape(exact.shape), exact, rtol=0, atol=1e-9)
    assert abs(found["left/values"]).max() < 1e-8
    assert np.squeeze(found["some/values"]).tolist() == [[rhs[-1, -1], rhs[0, 0]]] * 2
    residuals = found["history/residual"]
    assert np.isfinite(residuals).sum() == account["steps"] // 20 + 1
    assert residuals[0] == pytest.approx(np.sqrt(np.mean(residual_of_zero(rhs) ** 2)), rel=1e-14)


def test_balance_and_limits_change_no_bit(rhs, tmp_path):
    usual, expected = run(tmp_path, "usual", "--set", "time.steps=40")
    assert usual.status == 0, usual
    words = ["fragments.balance='steal'", "fragments.live_fragments=3", "fragments.live_bytes='1kB'"]
    words = [word for key in ["time.steps=40", *words] for word in ("--set", key)]
    ended, out = run(tmp_path, "limited", *words, ranks=2)
    assert ended.status == 0, ended
    case = json.loads((out / "run.json").read_text())["config"]["fragments"]
    assert case == {"balance": "steal", "live_fragments": 3, "live_bytes": "1kB"}
    found, same = jobs.read_datasets(out / "output.h5"), jobs.read_datasets(expected / "output.h5")
    for name in ("u/values", "left/values", "history/residual"):
        assert found[name].tobytes() == same[name].tobytes(), name


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--balance", "shift"], 'fragments.balance: "shift" is not accepted'),
        (["--live-fragments", "0"], "fragments.live_fragments"),
        (["--live-bytes", "much"], 'fragments.live_bytes: "much" is no size'),
    ],
)
def test_options_about_fragments_are_keys_of_the_case(words, said, rhs, tmp_path):
    (tmp_path / "case.toml").write_text(CASE)
    ended = jobs.tailrace("run", tmp_path / "case.toml", "--out", tmp_path / "out", *words)
    assert ended.status == 2 and said in ended.err, ended


def residual_of_zero(rhs: np.ndarray) -> np.ndarray:
    right = rhs.copy()
    right[:, [0, -1]] += 0.5 / 0.1**2
    return right


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (["solver.blocks=[8,4]", "solver.metod='cg'", "time.steps=0"], ["blocks", "metod", "time.steps"]),
        (["solver.method='gauss-seidel'", "domain.cells=[7,5]"], ["5 points around a periodic axis"]),
        (
            ["domain.sides=['dirichlet','periodic','open']", "problem.rhs='sine'"],
            ['"open" is not accepted', '"sine" is neither'],
        ),
        (["problem.rhs='rhs.h5:/bad'"], ["is nan at x, y, z = 1, 3, 0"]),
        (["problem.rhs='rhs.h5:/short'"], ["has the shape"]),
        (["problem.rhs='rhs.h5:/whole'"], ["holds elements of type"]),
        (["problem.rhs='rhs.h5:/none'"], ["holds no dataset /none"]),
        (["problem.rhs=1.0", "domain.sides=['periodic']", "problem.boundary=0"], ["has the mean 1"]),
        (["domain.cells=[7]"], ["domain.cells"]),
        (
            ["fragments.balance='shift'", "fragments.live_fragments=0", "fragments.live_bytes='much'"],
            ["shift", "one of off, steal, diffuse, auto", "fragments.live_fragments", '"much" is no size'],
        ),
        (["fragments.live_bytes='0'"], ['"0" is no size for a limit']),
        (["problem.rhs='sines'"], ["problem.boundary"]),
        (["problem.rhs=1e160"], ["problem.rhs", "up to 1e+160 at first", "too large", "scale problem.rhs"]),
        (["problem.rhs=1e308"], ["problem.rhs", "up to 1e+308 at first", "too large"]),
        (["problem.rhs=1e-170", "problem.boundary=0"], ["problem.rhs", "too small", "scale problem.rhs"]),
        (["problem.rhs=0", "problem.boundary=1e-170"], ["too small", "and problem.boundary, and u with it"]),
        (["domain.spacing_m=[1e-300,1]"], ["domain.spacing_m", "too small"]),
    ],
)
def test_bad_input_is_one_message(settings, said, rhs, tmp_path):
    words = [word for setting in settings for word in ("--set", setting)]
    ended, out = run(tmp_path, "bad", "--check", *words, ranks=0)
    assert ended.status == 2 and not out.exists(), ended
    assert all(text in ended.err for text in said), ended
    assert len(jobs.messages(ended, "tailrace-poisson")) == 1, ended


def test_a_tolerance_that_is_not_reached_is_a_warning(rhs, tmp_path):
    ended, out = run(tmp_path, "slow", "--set", "time.steps=12")
    assert ended.status == 0 and "above solver.tolerance" in str(ended), ended
    assert json.loads((out / "run.json").read_text())["results"]["converged"] is False


def test_a_tolerance_that_is_reached_between_looks_is_reached(rhs, tmp_path):
    words = [word for key in ("time.steps=75", "solver.check_every=100") for word in ("--set", key)]
    ended, out = run(tmp_path, "between", *words)
    assert ended.status == 0 and "warning" not in str(ended), ended
    account = json.loads((out / "run.json").read_text())
    assert account["steps"] == 75 and account["results"]["converged"] is True


def test_a_formula_that_is_zero_at_all_points_has_the_solution_zero(rhs, tmp_path):
    keys = ["problem.rhs='sines'", "problem.boundary=0", "domain.cells=[2,2]", "domain.sides=['periodic']"]
    keys += ["solver.blocks=[1,2]"]
    words = [word for key in keys for word in ("--set", key)]
    ended, out = run(tmp_path, "zero", *words, ranks=2, text=CASE.split("[[output]]")[0])
    assert ended.status == 0, ended
    results = json.loads((out / "run.json").read_text())["results"]
    assert results["converged"] and results["first_residual"] == 0 and results["error"] < 1e-15


def test_small_right_hand_sides_are_solved_as_far_as_squares_go(rhs, tmp_path):
    """The solution is as many times smaller; the sums of squares are numbers down to the tolerance."""
    words = ["--set", "problem.boundary=0", "--set", "solver.tolerance=1e-6"]
    ended, out = run(tmp_path, "small", *words, "--set", "problem.rhs=1e-140")
    assert ended.status == 0, ended
    ended, whole = run(tmp_path, "one", *words, "--set", "problem.rhs=1.0")
    small, one = (jobs.read_datasets(each / "output.h5")["u/values"] for each in (out, whole))
    assert np.allclose(small * 1e140, one, rtol=1e-9, atol=0)


def test_stopped_and_gone_on_with_on_other_ranks(rhs, tmp_path):
    """SIGTERM among the sweeps on two ranks, the rest on three: one continuous output."""
    text = CASE.replace("tolerance = 1e-11\ncheck_every = 20", "check_every = 5")
    text += '[[output]]\nname = "series"\nquantity = "u"\nevery = 5\n'
    slow = ["--write", "blocking", "--pace", "latency=10ms"]
    ended, whole = run(tmp_path, "whole", text=text)
    assert ended.status == 0, ended
    out = tmp_path / "stopped"
    words = ["--case", tmp_path / "whole.toml", "--out", out]
    job = jobs.Job([*words, *slow], 2, command=[str(jobs.POISSON)])
    job.wait_for(lambda: jobs.recorded_steps(out / "output.h5") >= 50, "recorded step")
    job.send(signal.SIGTERM, rank=1)
    ended = job.wait()
    assert ended.status == 4 and 50 <= jobs.account(out)["steps"] < 800, ended
    ended = jobs.Job([*words, "--resume"], 3, command=[str(jobs.POISSON)]).wait()
    assert ended.status == 0, ended
    expected, found = (jobs.read_datasets(directory / "output.h5") for directory in (whole, out))
    assert set(found) == set(expected)
    for name, values in found.items():
        if name != "tailrace_record":
            assert values.tobytes() == expected[name].tobytes(), name
