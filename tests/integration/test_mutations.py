"""Valid inputs with something changed at random: a clear refusal or a right run, never a crash or a hang."""

import os
import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import h5py
import numpy as np
import pytest

import jobs
from kwave_input import KwaveInput, small_input, with_index_mask

TINY = (12, 10, 8)
SIGNALS = 128  # A status above stands for a signal, as a shell and a launcher tell it.
CHECKS_AT_ONCE = 6
EXTREMES = [0, 1, 2, 7, 2**31, 2**32, 2**53, 2**62, 2**63, 2**64 - 1]
REALS = [0.0, -0.0, -1.0, 1.0, 1e-45, 1e-30, 1e30, 3.4e38, float("nan"), float("inf"), float("-inf")]
TYPES = ["<f4", "<f8", "<u8", "<i8", "<u4", "<i4", "u1", ">f4", ">u8", "S8", "<f2"]


def base(choose: random.Random) -> KwaveInput:
    case = small_input(TINY, steps=4, seed=choose.randrange(1000))
    if choose.random() < 0.3:
        with_index_mask(case, [1, 5, 5, 960])
    if choose.random() < 0.3:
        case.datasets["p0_source_input"] = case.datasets["c0"] * 0 + np.float32(1.0)
        case.set("p0_source_flag", 1)
    for name in ("c0", "rho0", "BonA", "alpha_coeff"):
        if choose.random() < 0.2:
            case.datasets[name] = case.datasets[name][:1, :1, :1].copy()
    return case


def change_value(case: KwaveInput, choose: random.Random) -> None:
    values = case.datasets[choose.choice(sorted(case.datasets))]
    place = tuple(choose.randrange(extent) for extent in values.shape)
    if np.issubdtype(values.dtype, np.integer):
        near = int(values[place]) + choose.choice([-1, 1])
        values[place] = choose.choice([*EXTREMES, max(near, 0)])
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
            values.transpose(2, 1, 0).copy(),
            values[..., :0],
            np.concatenate([values, values], axis=choose.randrange(3)),
            np.zeros((), values.dtype),
            values[None],
        ]
    )


def change_type(case: KwaveInput, choose: random.Random) -> None:
    name = choose.choice(sorted(case.datasets))
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


def checked(path: Path) -> str | None:
    """What is wrong with the program's answer to an input that it is only to look at, or nothing."""
    ended = jobs.run("-i", path, "--check", limit_s=30)
    return complaint(ended, path)


def complaint(ended: jobs.Ended, path: Path) -> str | None:
    if ended.status == 0:
        return f"accepted with words: {ended}" if ended.err else None
    if ended.status != 1:
        return f"{ended}"
    lines = ended.err.splitlines()
    if not lines or not lines[0].startswith(f"tailrace-ultrasound: {path}: "):
        return f"no clear message: {ended}"
    return None


def check_all(seeds: range, directory: Path) -> None:
    def check(seed: int) -> str | None:
        path = mutant(directory / f"{seed}.h5", seed)
        wrong = checked(path)
        if wrong is None:
            path.unlink()
        return wrong

    answers = jobs.in_parallel([partial(check, seed) for seed in seeds], CHECKS_AT_ONCE)
    wrong = {seed: text for seed, text in zip(seeds, answers, strict=True) if text}
    assert not wrong, "\n".join(f"seed {seed}: {text}" for seed, text in wrong.items())


def test_changed_inputs_are_refused_or_accepted_clearly(tmp_path):
    first = int(os.environ.get("TAILRACE_TEST_SEED", "0"))
    check_all(range(first, first + 300), tmp_path)


@pytest.mark.full
def test_many_changed_inputs(tmp_path):
    for first in range(1000, 5000, 500):
        check_all(range(first, first + 500), tmp_path)


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


@pytest.mark.mpi
def test_changed_inputs_run_as_their_check_says(tmp_path):
    run_all(tmp_path, 20_000, 12)


@pytest.mark.full
@pytest.mark.mpi
def test_many_changed_inputs_run_as_their_check_says(tmp_path):
    run_all(tmp_path, 30_000, 300)
