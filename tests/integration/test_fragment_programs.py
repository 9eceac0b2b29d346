# SPDX-License-Identifier: BSD-3-Clause
"""The programs of examples/fragments on several numbers of ranks, each beside an independent computation."""

import math
import os
import re
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import command
import jobs
from fragment_cache import common_cache
from native import cannot, needs
from tailrace.programs import find_program

pytestmark = needs("tailrace-fragments")
EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "fragments"
NATIVE = find_program("tailrace-fragments")
RANKS = [1, 2] if jobs.waits_spin() else [1, 3]

# Each program with its arguments; its values are printed where it can do that.
ARGUMENTS = {
    "matrix_product": [3, 5],
    "particles": [7, 6, 25],
    "poisson_cg": [31, 8, 1e-9],
    "poisson_jacobi": [15, 6, 10, 1e-2],
    "powers": [10],
    "prefix_sum": [7, 9],
    "reduction": [7, 1000],
    "stencil1d": [4, 20, 30],
    "stencil2d": [37, 40],
    "tour": [5],
    "tree": [12],
    "tridiagonal": [3, 4, 5, 6],
    "wavefront": [10],
}


def flags_of_the_programs() -> str:
    """What the simulations were compiled with beyond -O3, so that the same source gives the same bits."""
    cache = NATIVE.parent.parent / "CMakeCache.txt"
    if not cache.is_file():
        cannot("the flags of the programs are not known without their build directory")
    native = re.search(r"^TAILRACE_NATIVE:BOOL=(\w+)$", cache.read_text(), re.MULTILINE)
    return "-march=native" if native and native[1] == "ON" else ""


def compiled(folder: Path, cache: str, name: str, flags: str = "") -> Path:
    target = folder / f"{name}.so"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", cache)
        patch.setenv("CXX_FLAGS", flags)
        answer = command.tailrace("compile", EXAMPLES / f"{name}.fa", "-D", "VALUES", "-o", target)
    assert (answer.status, answer.err) == (0, ""), answer
    return target


def run_all(cache: str, folder: Path) -> dict[tuple[str, int], jobs.Ended]:
    files = {name: compiled(folder, cache, name) for name in ARGUMENTS}

    def run(name: str, ranks: int) -> jobs.Ended:
        return jobs.Job([files[name], *ARGUMENTS[name]], ranks, [str(NATIVE)]).wait()

    cases = [(name, ranks) for name in ARGUMENTS for ranks in RANKS]
    return dict(zip(cases, jobs.in_parallel([partial(run, *one) for one in cases]), strict=True))


@pytest.fixture(scope="module")
def ended(once, tmp_path_factory) -> dict[tuple[str, int], jobs.Ended]:
    return once("all examples of fragments", partial(run_all, common_cache(tmp_path_factory)))


@pytest.fixture(params=RANKS, ids=lambda ranks: f"{ranks}-ranks")
def output(request, ended):
    """The standard output of a program; nothing else is said."""

    def of(name: str) -> str:
        one = ended[name, request.param]
        assert (one.status, one.err) == (0, ""), one
        return one.out

    return of


def values(text: str, letter: str) -> np.ndarray:
    """The lines LETTER INDEX... VALUE as an array."""
    lines = [line.split()[1:] for line in text.splitlines() if line.startswith(f"{letter} ")]
    indices = np.array([[int(word) for word in words[:-1]] for words in lines])
    assert len(set(map(tuple, indices))) == len(indices)
    array = np.full(indices.max(axis=0) + 1, np.nan)
    array[tuple(indices.T)] = [float(words[-1]) for words in lines]
    return array


def test_no_program_is_forgotten():
    assert set(ARGUMENTS) == {path.stem for path in EXAMPLES.glob("*.fa")}


def test_prefix_sum(output):
    i = np.arange(63)
    expected = np.cumsum(i * i % 97 - 40)
    assert values(output("prefix_sum"), "y").tolist() == expected.tolist()
    assert f"63 numbers: their sum is {expected[-1]}\n" in output("prefix_sum")


def test_stencil1d(output):
    u = np.cos(2 * np.pi * np.arange(80) / 80)
    for _ in range(30):
        u = u + (np.roll(u, 1) - 2 * u + np.roll(u, -1)) / 4
    assert np.allclose(values(output("stencil1d"), "u"), u, rtol=0, atol=1e-14)
    assert "80 cells, 30 steps: off by rounding\n" in output("stencil1d")


def heat(cells: int, steps: int) -> tuple[np.ndarray, np.ndarray]:
    x = (np.arange(cells) + 0.5) / cells
    start = ((x[:, None] - 0.3) ** 2 + (x[None, :] - 0.4) ** 2 < 0.04).astype(float)
    u = start
    for _ in range(steps):
        around = np.pad(u, 1)
        u = u + 0.2 * (around[:-2, 1:-1] + around[2:, 1:-1] + around[1:-1, :-2] + around[1:-1, 2:] - 4 * u)
    return start, u


def test_stencil2d(output):
    start, u = heat(37, 40)
    assert np.allclose(values(output("stencil2d"), "u"), u, rtol=0, atol=1e-14)
    assert f"37 x 37 cells, 40 steps: {u.sum() / start.sum():.6f} of the heat is left\n" in output(
        "stencil2d"
    )


def test_matrix_product(output):
    row, column = np.indices((15, 15))
    expected = (1 / (1 + row + column)) @ ((row * 7 + column * 3) % 11 - 5.0)
    assert np.allclose(values(output("matrix_product"), "c"), expected, rtol=0, atol=1e-13)
    assert f"15 x 15: the trace of the product is {np.trace(expected):.9f}\n" in output("matrix_product")


def laplacian(cells: int) -> np.ndarray:
    line = (2 * np.eye(cells) - np.eye(cells, k=1) - np.eye(cells, k=-1)) * (cells + 1) ** 2
    return np.kron(line, np.eye(cells)) + np.kron(np.eye(cells), line)


def test_poisson_by_conjugate_gradients(output):
    u, exact = values(output("poisson_cg"), "u"), np.linalg.solve(laplacian(31), np.ones(961)).reshape(31, 31)
    assert np.allclose(u, exact, rtol=0, atol=1e-9 * exact.max())
    assert f"largest value {exact.max():.9f}\n" in output("poisson_cg")


def test_poisson_by_jacobi(output):
    u, sweeps = np.zeros((15, 15)), int(re.search(r"(\d+) sweeps", output("poisson_jacobi"))[1])
    residuals = []
    for sweep in range(sweeps + 1):
        around = np.pad(u, 1)
        near = around[:-2, 1:-1] + around[2:, 1:-1] + around[1:-1, :-2] + around[1:-1, 2:]
        residuals += [np.sqrt(np.mean((1 + 256 * near - 1024 * u) ** 2))] if sweep % 10 == 0 else []
        last, u = u, (1 + 256 * near) / 1024
    assert np.allclose(values(output("poisson_jacobi"), "u"), last, rtol=0, atol=1e-15)
    assert residuals[-1] <= 1e-2 * residuals[0] < residuals[-2]


def test_tridiagonal(output):
    found = values(output("tridiagonal"), "x")
    i = np.arange(30)
    for line in range(12):
        matrix = (2 + 0.1 * (line % 5 + 1)) * np.eye(30) - np.eye(30, k=1) - np.eye(30, k=-1)
        right = (7 * i + 3 * line) % 13 - 6.0
        assert np.allclose(found[line], np.linalg.solve(matrix, right), rtol=0, atol=1e-12)
    assert f"12 lines of 30 unknowns: their sum is {found.sum():.9f}\n" in output("tridiagonal")


def test_particles(output):
    number = np.arange(42)
    place, step = number // 6 + (number % 6 + 0.5) / 6, (number * 37 % 101 - 50) / 64
    for _ in range(25):
        place = (place + step) % 7
    assert np.allclose(values(output("particles"), "p"), place, rtol=0, atol=1e-12)
    fullest = max(Counter(np.floor(place)).values())
    assert f"42 particles after 25 steps, at most {fullest} in a cell\n" in output("particles")


def test_those_that_print_a_line(output):
    ways = [1, 1]
    while len(ways) <= 12:
        ways.append(ways[-1] + ways[-2])
    assert output("tree") == f"12 stairs: {ways[12]} ways\n"
    assert output("wavefront") == f"10 x 10: {math.comb(20, 10) % 1000003} ways\n"
    x = (np.arange(7000) + 0.5) / 7000
    assert output("reduction") == f"7 parts: {np.mean(4 / (1 + x * x)):.9f}, pi\n"
    assert sorted(output("powers").splitlines()) == ["even 2", "even 32", "even 8", "first over 100: 128"]


def test_the_tour(output):
    n = 5
    expected = [f"home {2 * n * n}", f"copies {3 * n}", f"sum {2 * n + 1}", f"pushed {n + 1}"]
    assert sorted(output("tour").splitlines()) == sorted([*expected, f"balance {n * (n + 1) // 2}"])
    text = (EXAMPLES / "tour.fa").read_text()
    words = "locator_replicating request wait req_count req_unlimited delete --> >> afterpush stealable"
    rules = ["locator_cyclic:", "locator_cyclic x[i] =>", *words.split(), "unroll_at_once", "nfparam"]
    assert [rule for rule in rules if rule not in text] == []


CASE = """[case]
simulation = "poisson"
[domain]
cells = [{cells}, {cells}]
[problem]
rhs = 1
[solver]
method = "{method}"
blocks = [{size}, {size}]
check_every = {sweeps}
[time]
steps = {sweeps}
[[output]]
name = "u"
quantity = "u"
reduce = "final"
type = "float64"
"""


@pytest.mark.parametrize(("method", "words"), [("cg", [31, 8, 1e-9]), ("jacobi", [31, 8, 10, 0.5])])
def test_poisson_has_the_bits_of_the_simulation(method, words, tmp_path, tmp_path_factory):
    if jobs.POISSON is None or jobs.POISSON.parent != NATIVE.parent:
        cannot("tailrace-poisson is not built")
    cache, flags = common_cache(tmp_path_factory), f"-O3 {flags_of_the_programs()}"
    program = compiled(tmp_path, cache, f"poisson_{method}", flags)
    ended = jobs.Job([program, *words], RANKS[-1], [str(NATIVE)]).wait()
    assert ended.status == 0, ended
    sweeps = int(re.search(r"(\d+) sweeps", ended.out)[1])
    case = tmp_path / "case.toml"
    case.write_text(CASE.format(cells=words[0], method=method, size=words[1], sweeps=sweeps))
    done = jobs.Job(["--case", case, "--out", tmp_path / "out"], 2, [str(jobs.POISSON)]).wait()
    assert done.status == 0, done
    expected = jobs.read_datasets(tmp_path / "out" / "output.h5")["u/values"].reshape(words[0], words[0])
    assert values(ended.out, "u").T.tobytes() == expected.tobytes()


def test_the_command_of_a_newcomer(tmp_path, tmp_path_factory):
    words = ["run", EXAMPLES / "stencil2d.fa", "-n", 2, "--out", tmp_path / "out", 64, 100]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", common_cache(tmp_path_factory))
        ended = jobs.tailrace(*words)
    start, u = heat(64, 100)
    share = u.sum() / start.sum()
    said = f"64 x 64 cells, 100 steps: {share:.6f} of the heat is left\n"
    assert (ended.status, ended.out) == (0, said), ended
    assert os.fspath(tmp_path / "out" / "report.html") in ended.err
