# SPDX-License-Identifier: BSD-3-Clause
"""The cases of `tailrace bench start`: every simulation on the sizes of its own benchmark."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import h5py

from tailrace.bench.kwave_input import Case as UltrasoundCase
from tailrace.bench.kwave_input import write_input
from tailrace_bench import molecules_case, seismic_model, ultrasound

# The first of them warms up.
STEPS = 6
COMPRESSED_GRID = (144, 108, 108)  # the quickstart's
SEISMIC_SIZES = (97, 152, 167, 248)
HEAT_CLASSES = ("S", "W", "A")
# Unknowns, method and edge of a block; the first are those of examples/poisson.toml.
POISSON: tuple[tuple[tuple[int, ...], str, int], ...] = (
    ((1023, 767), "cg", 128),
    ((2048, 2048), "jacobi", 128),
    ((127, 127, 127), "gauss-seidel", 32),
)


@dataclass(frozen=True)
class StartCase:
    """A case of a simulation, and how its native program is started on it."""

    simulation: str
    name: str
    prepare: Callable[[Path], list[str]]
    """Writes what the case needs into a directory and returns the words behind the program's name."""
    whole: bool = False
    """Also through `tailrace run`, which takes the case alone."""

    @property
    def program(self) -> str:
        return f"tailrace-{self.simulation}"


def all_cases() -> list[StartCase]:
    return [*ultrasound_cases(), *seismic_cases(), *molecules_cases(), *heat_cases(), *poisson_cases()]


def ultrasound_cases() -> Iterator[StartCase]:
    inputs = [(grid, False) for grid in ultrasound.GRIDS] + [(COMPRESSED_GRID, True)]
    for number, (grid, compressed) in enumerate(inputs):

        def prepare(
            directory: Path, grid: ultrasound.Grid = grid, compressed: bool = compressed
        ) -> list[str]:
            write_input(directory / "input.h5", UltrasoundCase(grid, "one", STEPS))
            if compressed:
                compress(directory / "input.h5")
            case_file = directory / "case.toml"
            case_file.write_text(
                '[case]\nsimulation = "ultrasound"\n[input]\nfile = "input.h5"\n'
                f"[time]\nsteps = {STEPS}\n[record]\np_raw = true\n"
            )
            return case_words(case_file, directory)

        name = ultrasound.grid_text(grid) + (", compressed input" if compressed else "")
        yield StartCase("ultrasound", name, prepare, whole=number == 0)


def compress(path: Path) -> None:
    """Puts the arrays of a file into compressed chunks, as the quickstart and many of k-Wave's users do."""
    with h5py.File(path, "r+") as file:
        for name in [name for name, dataset in file.items() if dataset.ndim > 0 and dataset.size > 1]:
            values, attributes = file[name][()], dict(file[name].attrs)
            del file[name]
            made = file.create_dataset(name, data=values, chunks=True, compression="gzip", compression_opts=1)
            made.attrs.update(attributes)


def seismic_cases() -> Iterator[StartCase]:
    for size in SEISMIC_SIZES:
        for properties in ("numbers", "arrays"):

            def prepare(directory: Path, size: int = size, properties: str = properties) -> list[str]:
                seismic_model.write_model(directory, size)
                case = seismic_model.Case(size, "tti", properties, 1, STEPS)
                return case_words(seismic_model.write_case(directory, case), directory)

            whole = (size, properties) == (SEISMIC_SIZES[0], "numbers")
            yield StartCase("seismic", f"{size}^3, tilted, {properties}", prepare, whole)


def molecules_cases() -> Iterator[StartCase]:
    for name, fluid in molecules_case.FLUIDS.items():
        for molecules in fluid.sizes:
            case = molecules_case.make_case(fluid, molecules, STEPS - fluid.warm_up)

            def prepare(directory: Path, case: molecules_case.Case = case) -> list[str]:
                return case_words(molecules_case.write_case(directory / "case.toml", case, ""), directory)

            yield StartCase(
                "molecules", case.name, prepare, whole=(name, molecules) == ("lj", fluid.sizes[0])
            )


def heat_cases() -> Iterator[StartCase]:
    for npb_class in HEAT_CLASSES:

        def prepare(directory: Path, npb_class: str = npb_class) -> list[str]:
            return [npb_class, "--out", str(directory / "run"), "--overwrite"]

        yield StartCase("heat", f"class {npb_class}", prepare)


def poisson_cases() -> Iterator[StartCase]:
    for cells, method, block in POISSON:

        def prepare(
            directory: Path, cells: tuple[int, ...] = cells, method: str = method, block: int = block
        ) -> list[str]:
            path = directory / "case.toml"
            path.write_text(poisson_text(cells, method, block))
            return case_words(path, directory)

        grid = "x".join(map(str, cells))
        yield StartCase("poisson", f"{grid}, {method}", prepare, whole=(cells, method) == POISSON[0][:2])


def poisson_text(cells: tuple[int, ...], method: str, block: int) -> str:
    sides = ", ".join(['"dirichlet"'] * len(cells))
    return (
        f'[case]\nsimulation = "poisson"\n[domain]\ncells = {list(cells)}\nsides = [{sides}]\n'
        f'[problem]\nrhs = "smooth"\n[solver]\nmethod = "{method}"\nblocks = {[block] * len(cells)}\n'
        f"tolerance = 1e-12\n[time]\nsteps = {STEPS}\n"
        # Sweeps run on until one of them has an output: the first is timed apart from the others.
        '[[output]]\nname = "u"\nquantity = "u"\nat = [1]\n'
    )


def case_words(case_file: Path, directory: Path) -> list[str]:
    return ["--case", str(case_file), "--out", str(directory / "run"), "--overwrite"]
