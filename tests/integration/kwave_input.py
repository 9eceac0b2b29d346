"""Small k-Wave input files for tests: a plain table of datasets, to be spoilt before it is written."""

from dataclasses import dataclass, field
from pathlib import Path

import h5py
import numpy as np

GRID = (24, 20, 18)
STEPS = 60
ROOT_ATTRIBUTES = {
    "created_by": "tests",
    "creation_date": "01/01/26, 00:00:00",
    "file_description": "a small input",
    "file_type": "input",
    "major_version": "1",
    "minor_version": "2",
}


@dataclass
class KwaveInput:
    """Datasets by name in HDF5 order (z, y, x); attributes of the root and, where they differ from what the
    element type says, of single datasets.
    """

    datasets: dict[str, np.ndarray]
    attributes: dict[str, str] = field(default_factory=lambda: dict(ROOT_ATTRIBUTES))
    dataset_attributes: dict[str, dict[str, str]] = field(default_factory=dict)

    def set(self, name: str, value: float) -> "KwaveInput":
        """Replaces a scalar, in the type it has."""
        self.datasets[name] = np.full((1, 1, 1), value, dtype=self.datasets[name].dtype)
        return self

    def write(self, path: Path) -> Path:
        with h5py.File(path, "w") as file:
            for name, value in self.attributes.items():
                file.attrs[name] = np.bytes_(value.encode())
            for name, values in self.datasets.items():
                dataset = file.create_dataset(name, data=values)
                for key, text in self.attributes_of(name).items():
                    dataset.attrs[key] = np.bytes_(text)
        return path

    def attributes_of(self, name: str) -> dict[str, str]:
        integer = np.issubdtype(self.datasets[name].dtype, np.integer)
        standard = {"data_type": "long" if integer else "float", "domain_type": "real"}
        return self.dataset_attributes.get(name, standard)


def long(value: int) -> np.ndarray:
    return np.full((1, 1, 1), value, dtype="<u8")


def real(value: float) -> np.ndarray:
    return np.full((1, 1, 1), value, dtype="<f4")


def small_input(grid: tuple[int, int, int] = GRID, steps: int = STEPS, seed: int = 1) -> KwaveInput:
    """A heterogeneous, non-linear, absorbing case with a source and a mask of two boxes, one of them flat."""
    nx, ny, nz = grid
    shape = (nz, ny, nx)
    random = np.random.default_rng(seed)
    datasets = header(grid, steps)
    datasets["c0"] = (1500 + 60 * random.random(shape)).astype("<f4")
    for name in ("rho0", "rho0_sgx", "rho0_sgy", "rho0_sgz"):
        datasets[name] = (1000 + 50 * random.random(shape)).astype("<f4")
    datasets["BonA"] = (5 + random.random(shape)).astype("<f4")
    datasets["alpha_coeff"] = (0.5 + random.random(shape)).astype("<f4")
    datasets |= source(grid, steps)
    boxes = [[3, 4, 2, nx - 2, ny - 3, nz - 3], [nx // 2, 1, 1, nx // 2, ny, nz]]
    datasets["sensor_mask_corners"] = np.array(boxes, dtype="<u8").reshape(1, len(boxes), 6)
    return KwaveInput(datasets)


def header(grid: tuple[int, int, int], steps: int) -> dict[str, np.ndarray]:
    integers = dict(zip(("Nx", "Ny", "Nz"), grid, strict=True)) | {"Nt": steps}
    integers |= {f"pml_{axis}_size": 3 for axis in "xyz"} | {f"u{axis}_source_flag": 0 for axis in "xyz"}
    integers |= {"p0_source_flag": 0, "transducer_source_flag": 0, "nonuniform_grid_flag": 0}
    integers |= {"nonlinear_flag": 1, "absorbing_flag": 1, "axisymmetric_flag": 0, "sensor_mask_type": 1}
    reals = {f"d{axis}": 1e-4 for axis in "xyz"} | {f"pml_{axis}_alpha": 2.0 for axis in "xyz"}
    reals |= {"dt": 1e-8, "c_ref": 1560.0, "alpha_power": 1.5}
    return {name: long(value) for name, value in integers.items()} | {
        name: real(value) for name, value in reals.items()
    }


def source(grid: tuple[int, int, int], steps: int) -> dict[str, np.ndarray]:
    """A quarter of a plane near x = 0 that adds one signal."""
    nx, ny, nz = grid
    points = [4 + nx * (y + ny * z) + 1 for z in range(nz // 4, nz // 2) for y in range(ny // 4, ny // 2)]
    time = np.arange(steps)
    signal = 1e-3 * np.sin(2 * np.pi * time / 20) * np.hanning(steps)
    return {
        "p_source_flag": long(steps),
        "p_source_mode": long(1),
        "p_source_many": long(0),
        "p_source_index": np.array(points, dtype="<u8").reshape(1, 1, -1),
        "p_source_input": signal.astype("<f4").reshape(1, steps, 1),
    }


def with_index_mask(case: KwaveInput, indices: list[int]) -> KwaveInput:
    """The same with sensor points, counted from 1, instead of boxes."""
    del case.datasets["sensor_mask_corners"]
    case.datasets["sensor_mask_type"] = long(0)
    case.datasets["sensor_mask_index"] = np.array(indices, dtype="<u8").reshape(1, 1, -1)
    return case
