# SPDX-License-Identifier: BSD-3-Clause
"""The examples of exchange on the installed library, against NumPy."""

import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

import jobs

RANKS = [1, 2, 3] if jobs.waits_spin() else [1, 2, 3, 7]


def random_spd_matrix(size: int) -> np.ndarray:
    """Entries at random places, symmetric, with a dominant diagonal; one row has no entry but that."""
    random = np.random.default_rng(4)
    matrix = np.where(random.random((size, size)) < 0.1, random.normal(size=(size, size)), 0)
    matrix[5, :] = matrix[:, 5] = 0
    matrix = np.tril(matrix, -1) + np.tril(matrix, -1).T
    return matrix + np.diag(np.abs(matrix).sum(axis=1) + 1)


def write_matrix_market(path: Path, matrix: np.ndarray) -> None:
    rows, columns = np.nonzero(np.tril(matrix))
    lines = ["%%MatrixMarket matrix coordinate real symmetric", "% made by a test"]
    lines.append(f"{len(matrix)} {len(matrix)} {len(rows)}")
    lines += [f"{i + 1} {j + 1} {matrix[i, j]!r}" for i, j in zip(rows, columns, strict=True)]
    path.write_text("\n".join(lines).replace("np.float64(", "").replace(")", "") + "\n")


def start(program: Path, *words, ranks: int) -> jobs.Ended:
    return jobs.Job(list(words), ranks, command=[str(program)]).wait()


def test_a_sparse_system_is_solved_on_any_number_of_ranks(build_example, tmp_path):
    matrix = random_spd_matrix(60)
    write_matrix_market(tmp_path / "a.mtx", matrix)
    expected = np.linalg.solve(matrix, np.ones(60))
    for ranks in RANKS:
        ended = start(build_example("spmv", "spmv"), tmp_path / "a.mtx", tmp_path / "x.txt", ranks=ranks)
        assert ended.status == 0, ended
        assert "60 rows" in ended.out
        assert np.allclose(np.loadtxt(tmp_path / "x.txt"), expected, rtol=1e-9, atol=0)


HEAD = "%%MatrixMarket matrix coordinate real "
NO_MATRIX = {
    "": "is no real matrix",
    HEAD + "general\n2 2 1\n3 1 1.0\n": "entry 1 is missing, or out of range",
    HEAD + "skew-symmetric\n2 2 1\n2 1 1.0\n": "has a matrix that is skew-symmetric",
    HEAD + "general\n2 3 1\n1 1 1.0\n": "is not square",
    HEAD + "general\n2 2 2\n1 1 1.0\n2 2 1.0\n1 2 1.0\n": "has more than 2 entries",
    HEAD + "symmetric\n2 2 2\n1 1 1.0\n2 2 -1.0\n": "is not positive definite",
}


@pytest.mark.parametrize("text", NO_MATRIX)
def test_what_is_no_matrix_is_one_message(text, build_example, tmp_path):
    (tmp_path / "a.mtx").write_text(text)
    ended = start(build_example("spmv", "spmv"), tmp_path / "a.mtx", tmp_path / "x.txt", ranks=2)
    assert ended.status == 2
    assert ended.err.count("a.mtx") == 1 and NO_MATRIX[text] in ended.err
    assert not (tmp_path / "x.txt").exists()


@pytest.mark.parametrize("name", ["spmv", "assembly"])
def test_a_file_that_is_not_there_is_said_to_be_that(name, build_example, tmp_path):
    ended = start(build_example(name, name), tmp_path / "none", tmp_path / "x.txt", ranks=2)
    assert ended.status == 2 and ended.err.count("none cannot be read") == 1, ended
    assert start(build_example(name, name), ranks=2).status == 2


@pytest.mark.parametrize("text", ["2 1\n0 0 0\n1 0 0\n0 1 0\n", "1 0\n0 0 0\n7\n", "-3 1\n", "x\n"])
def test_what_is_no_mesh_is_one_message(text, build_example, tmp_path):
    (tmp_path / "mesh.txt").write_text(text)
    ended = start(build_example("assembly", "assembly"), tmp_path / "mesh.txt", tmp_path / "x.txt", ranks=2)
    assert ended.status == 2 and ended.err.count("mesh.txt") == 1, ended


@pytest.mark.parametrize("turns", ["x", "-1", "0", "3x", ""])
def test_what_is_no_number_of_turns_is_one_message(turns, build_example):
    ended = start(build_example("shmem_ring", "shmem_ring"), turns, ranks=2)
    assert ended.status == 2 and ended.err.count("is no number of turns") == 1, ended


def cube_of_tetrahedra(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and elements of a unit cube whose cells are split into six tetrahedra, numbered at random."""
    random = np.random.default_rng(9)
    axis = np.arange(n + 1)
    places = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    number = random.permutation(len(places))
    nodes = np.empty((len(places), 3))
    nodes[number] = places / n
    elements = []
    for x, y, z in np.ndindex(n, n, n):
        for order in ([0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]):
            corner = np.array([x, y, z])
            corners = [corner.copy()]
            for step in order:
                corner[step] += 1
                corners.append(corner.copy())
            elements.append([number[(c[0] * (n + 1) + c[1]) * (n + 1) + c[2]] for c in corners])
    return nodes, random.permutation(np.array(elements))


def loads(nodes: np.ndarray, elements: np.ndarray) -> np.ndarray:
    at = nodes[elements]
    volume = np.abs(np.linalg.det(at[:, 1:] - at[:, :1])) / 6
    f = np.exp(at[..., 0]) * np.sin(3 * at[..., 1]) + at[..., 2]
    mass = (np.ones((4, 4)) + np.eye(4)) / 20
    total = np.zeros(len(nodes))
    np.add.at(total, elements, volume[:, None] * (f @ mass))
    return total


def test_elements_are_assembled_with_the_same_bits_on_any_number_of_ranks(build_example, tmp_path):
    nodes, elements = cube_of_tetrahedra(4)
    lines = [f"{len(nodes)} {len(elements)}"]
    lines += [" ".join(str(float(v)) for v in row) for row in nodes]
    lines += [" ".join(str(int(v)) for v in row) for row in elements]
    (tmp_path / "mesh.txt").write_text("\n".join(lines) + "\n")
    results = set()
    for ranks in RANKS:
        ended = start(
            build_example("assembly", "assembly"), tmp_path / "mesh.txt", tmp_path / "load.txt", ranks=ranks
        )
        assert ended.status == 0, ended
        results.add((tmp_path / "load.txt").read_bytes())
    assert len(results) == 1
    assert np.allclose(np.loadtxt(tmp_path / "load.txt"), loads(nodes, elements), rtol=1e-12, atol=0)


def test_a_vector_goes_around_a_ring_in_symmetric_memory(build_example):
    for ranks in RANKS:
        ended = start(build_example("shmem_ring", "shmem_ring"), "20", ranks=ranks)
        assert ended.status == 0, ended
        total = ranks * (ranks + 1) // 2
        assert ended.out == f"sum {total} ... {1000 * total}\n"


@pytest.mark.parametrize("ranks", [2, 3, 7])
def test_a_job_ends_when_a_rank_is_killed_while_the_others_wait_for_its_signal(ranks, build_example):
    if ranks > max(RANKS):
        pytest.skip("ranks that wait never leave their cores under this MPI")
    program = str(build_example("shmem_ring", "shmem_ring"))
    job = jobs.Job([10**9], ranks, command=[program])
    job.wait_for(lambda: len(job.processes_of("shmem_ring")) == ranks, "process of each rank")
    time.sleep(0.5)
    job.blow = time.monotonic()
    os.kill(job.processes_of("shmem_ring")[-1], signal.SIGKILL)
    ended = job.wait()
    assert ended.status != 0, ended
    assert ended.seconds < jobs.ENDS_WITHIN_S, ended
