# SPDX-License-Identifier: BSD-3-Clause
"""Valid inputs with something changed at random, on several ranks: a clear refusal or a right run, never a
crash or a hang. The program in tests/integration/fuzz does the same on one rank by the thousand.
"""

import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import h5py
import numpy as np
import pytest

import jobs
from kwave_input import FEATURES, KwaveInput, small_input

TINY, TINY_2D = (12, 10, 8), (12, 10, 1)
EXTREMES = [0, 1, 2, 7, 2**31, 2**32, 2**53, 2**62, 2**63, 2**64 - 1]
REALS = [0.0, -0.0, -1.0, 1.0, 1e-45, 1e-30, 1e30, 3.4e38, float("nan"), float("inf"), float("-inf")]
TYPES = ["<f4", "<f8", "<u8", "<i8", "<u4", "<i4", "u1", ">f4", ">u8", "S8", "<f2"]


def base(choose: random.Random) -> KwaveInput:
    case = small_input(choose.choice([TINY, TINY_2D]), steps=4, seed=choose.randrange(1000))
    FEATURES[choose.choice(list(FEATURES))](case)
    for name in ("c0", "rho0", "BonA", "alpha_coeff"):
        if choose.random() < 0.2:
            case.datasets[name] = case.datasets[name][:1, :1, :1].copy()
    return case


def change_value(case: KwaveInput, choose: random.Random) -> None:
    values = case.datasets[choose.choice(sorted(case.datasets))]
    if values.size == 0:  # of an earlier change
        return
    place = tuple(choose.randrange(extent) for extent in values.shape)
    if np.issubdtype(values.dtype, np.integer):
        near = int(values[place]) + choose.choice([-1, 1])
        changed = choose.choice([*EXTREMES, max(near, 0)])
        values[place] = np.uint64(min(changed, EXTREMES[-1])).astype(values.dtype)
    else:
        with np.errstate(over="ignore"):
            values[place] = choose.choice(REALS)


def change_shape(case: KwaveInput, choose: random.Random) -> None:
    name = choose.choice(sorted(case.datasets))
    values = case.datasets[name]
    case.datasets[name] = choose.choice(
        [
            values.reshape(-1),
            values.reshape(1, -1),
            values.T.copy(),
            np.atleast_1d(values)[..., :0],
            np.concatenate([np.atleast_1d(values)] * 2, axis=choose.randrange(max(values.ndim, 1))),
            np.zeros((), values.dtype),
            values[None],
        ]
    )


def change_type(case: KwaveInput, choose: random.Random) -> None:
    name = choose.choice(sorted(case.datasets))
    with np.errstate(invalid="ignore", over="ignore"):
        case.datasets[name] = case.datasets[name].astype(choose.choice(TYPES))


def remove(case: KwaveInput, choose: random.Random) -> None:
    del case.datasets[choose.choice(sorted(case.datasets))]


def rename(case: KwaveInput, choose: random.Random) -> None:
    name, other = choose.sample(sorted(case.datasets), 2)
    case.datasets[other] = case.datasets.pop(name)


def change_attribute(case: KwaveInput, choose: random.Random) -> None:
    name = choose.choice(sorted(case.attributes))
    if choose.random() < 0.3:
        del case.attributes[name]
    else:
        case.attributes[name] = choose.choice(["", "1", "9", "output", "x" * 5000, "\u00e9\u4e16"])
    dataset = choose.choice(sorted(case.datasets))
    if choose.random() < 0.5:
        texts = [{}, {"data_type": "real"}, {"data_type": "long", "domain_type": "complex"}]
        case.dataset_attributes[dataset] = choose.choice(texts)


CHANGES = [
    change_value,
    change_value,
    change_value,
    change_shape,
    change_type,
    remove,
    rename,
    change_attribute,
]


def flip_bytes(path: Path, choose: random.Random) -> None:
    """Anywhere, but more often near the start, where the structure is."""
    content = bytearray(path.read_bytes())
    for _ in range(choose.choice([1, 1, 3, 20])):
        end = choose.choice([100, 2000, len(content)])
        content[choose.randrange(min(end, len(content)))] = choose.randrange(256)
    if choose.random() < 0.1:
        del content[choose.randrange(len(content)) :]
    path.write_bytes(content)


def mutant(path: Path, seed: int) -> Path:
    choose = random.Random(seed)
    case = base(choose)
    kind = choose.random()
    if kind > 0.25:
        for _ in range(choose.choice([1, 1, 1, 2, 4])):
            choose.choice(CHANGES)(case, choose)
    case.write(path)
    if kind < 0.3:
        flip_bytes(path, choose)
    return path


def runnable(directory: Path, first: int, wanted: int) -> Iterator[tuple[Path, bool]]:
    """Mutants that are small enough to run whatever they say, and whether the program accepts them."""
    found = 0
    for seed in range(first, first + 100 * wanted):
        path = mutant(directory / f"{seed}.h5", seed)
        if is_small(path):
            accepted = jobs.run("-i", path, "--check", limit_s=30).status == 0
            yield path, accepted
            found += 1
        if found == wanted:
            return


def is_small(path: Path) -> bool:
    try:
        with h5py.File(path) as file:
            sizes = [int(np.asarray(file[name]).reshape(-1)[0]) for name in ("Nx", "Ny", "Nz", "Nt")]
    except (OSError, KeyError, ValueError, IndexError, RuntimeError):
        return True
    return all(size < 1000 for size in sizes)


def run_all(directory: Path, first: int, wanted: int) -> None:
    def run(path: Path, accepted: bool, ranks: int) -> None:
        output = path.with_suffix(".out")
        ended = jobs.run("-i", path, "-o", output, "--quiet", "-p", "--p_max_all", ranks=ranks)
        assert ended.status == (0 if accepted else 1), f"{path}: {ended}"
        assert output.exists() == accepted
        if accepted:
            found = jobs.read_datasets(output)
            assert found["t_index"].item() == found["Nt"].item() == found["tailrace_record"].min()
            output.unlink()

    mutants = enumerate(runnable(directory, first, wanted))
    jobs.in_parallel([partial(run, path, accepted, 1 + n % 3) for n, (path, accepted) in mutants])


def test_changed_inputs_run_as_their_check_says(tmp_path):
    run_all(tmp_path, 20_000, 12)


@pytest.mark.full
def test_many_changed_inputs_run_as_their_check_says(tmp_path):
    run_all(tmp_path, 30_000, 300)
