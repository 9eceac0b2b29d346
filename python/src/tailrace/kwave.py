# SPDX-License-Identifier: BSD-3-Clause
"""What the names in k-Wave files mean, and how their datasets are laid out."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from traceback import walk_tb

import h5py

from tailrace.console import CommandError

COMPONENTS = ("ux", "uy", "uz")
SERIES = ("p", *COMPONENTS, *(f"{name}_non_staggered" for name in COMPONENTS))

INTENSITIES = ("Ix_avg", "Iy_avg", "Iz_avg")

_REDUCTIONS = {
    "_max_all": "maximum, whole grid",
    "_min_all": "minimum, whole grid",
    "_final": "last step, whole grid",
    "_max": "maximum",
    "_min": "minimum",
    "_rms": "root mean square",
}

_FIXED = {
    "Nx": ("grid points along x", ""),
    "Ny": ("grid points along y", ""),
    "Nz": ("grid points along z", ""),
    "Nt": ("time steps", ""),
    "dt": ("time step", "s"),
    "dx": ("spacing along x", "m"),
    "dy": ("spacing along y", "m"),
    "dz": ("spacing along z", "m"),
    "c_ref": ("reference sound speed", "m/s"),
    "c0": ("sound speed", "m/s"),
    "rho0": ("density", "kg/m³"),
    "rho0_sgx": ("density, staggered along x", "kg/m³"),
    "rho0_sgy": ("density, staggered along y", "kg/m³"),
    "rho0_sgz": ("density, staggered along z", "kg/m³"),
    "BonA": ("non-linearity B/A", ""),
    "alpha_coeff": ("absorption", "dB/(MHz^y cm)"),
    "alpha_power": ("absorption exponent y", ""),
    "t_index": ("steps completed", ""),
    "tailrace_record": ("steps recorded, one slot per writer", ""),
    "tailrace_switches": ("directories left for others: step, from, to, error", ""),
    "tailrace_dropped": ("first step with samples left out, one slot per writer", ""),
    "sensor_mask_type": ("sensor mask: 0 points, 1 boxes", ""),
    "sensor_mask_index": ("sensor points, linear from 1", ""),
    "sensor_mask_corners": ("sensor boxes, corners from 1", ""),
    "p0_source_input": ("initial pressure", "Pa"),
    "p_source_input": ("pressure source signal, scaled", ""),
    "p_source_index": ("pressure source points, linear from 1", ""),
    "u_source_index": ("velocity source points, linear from 1", ""),
}


_TABLE_PARTS = {
    "step": "steps of the samples",
    "time_s": "times of the samples",
    "offsets": "first record of each sample, and the end",
    "points": "sampled points (x, y, z), from 0",
}


class FileError(CommandError):
    """A file or directory that cannot be used; the message names it and says what to do."""


@dataclass(frozen=True)
class Meaning:
    """What a dataset holds: the quantity, its unit ("" when it has none) and the reduction over time."""

    quantity: str
    unit: str
    reduction: str = ""


def meaning(path: str) -> Meaning | None:
    """The meaning of a dataset by its path, `p_max/2` for example; None for a name k-Wave does not know."""
    name = path.strip("/").split("/")[0]
    if name in _FIXED:
        return Meaning(*_FIXED[name])
    if name in SERIES:
        return Meaning(*_quantity(name), "series")
    if name in INTENSITIES:
        return Meaning(f"intensity {name[1]}", "W/m²", "mean")
    if name == "Q_term":
        return Meaning("heat deposition", "W/m³", "mean")
    for suffix, reduction in _REDUCTIONS.items():
        stem = name.removesuffix(suffix)
        if stem != name and stem in ("p", *COMPONENTS):
            return Meaning(*_quantity(stem), reduction)
    return _by_ending(name)


def meaning_of(dataset: h5py.Dataset) -> Meaning | None:
    """The meaning of a dataset of an open file: by its name, or by the attributes of its [[output]] group."""
    group = dataset.parent
    if not is_output_table(group):
        return meaning(dataset.name)
    if dataset.name != f"{group.name}/values":
        return Meaning(_TABLE_PARTS.get(dataset.name.split("/")[-1], ""), "")
    about = {key: text(value) for key, value in group.attrs.items()}
    named = meaning(about.get("quantity", "")) or Meaning(about.get("quantity", ""), "")
    reduction = {"none": "series", "min": "minimum", "max": "maximum", "rms": "root mean square"}
    kind = about.get("reduction", "none")
    return Meaning(named.quantity, about.get("unit", named.unit), reduction.get(kind, kind))


def is_output_table(group: h5py.Group) -> bool:
    """Whether a group was written for an [[output]] table of a case."""
    return all(name in group for name in ("values", "step", "time_s"))


def output_tables(group: h5py.Group) -> list[h5py.Group]:
    """The groups of [[output]] tables at or below a group; links to them are other names of the same."""
    found = []
    for name, item in group.items():
        if not isinstance(group.get(name, getlink=True), h5py.HardLink) or not isinstance(item, h5py.Group):
            continue
        found += [item] if is_output_table(item) else output_tables(item)
    return found


def holds_rows(values: h5py.Dataset) -> bool:
    """Whether samples have any number of records: sample k those from offsets[k] up to offsets[k + 1]."""
    return "offsets" in values.parent


def _quantity(name: str) -> tuple[str, str]:
    if name == "p":
        return "pressure", "Pa"
    between = "" if name.endswith("_non_staggered") else ", staggered"
    return f"velocity {name[1]}{between}", "m/s"


def _by_ending(name: str) -> Meaning | None:
    if name.startswith("pml_") and name.endswith("_size"):
        return Meaning("absorbing layer thickness, points", "")
    if name.startswith("pml_") and name.endswith("_alpha"):
        return Meaning("absorbing layer strength", "Np/point")
    if name.endswith("_source_flag"):
        return Meaning("source signal length, 0 = absent", "")
    if name.endswith(("_flag", "_source_mode", "_source_many")):
        return Meaning("setting", "")
    return None


def time_axis(dataset: h5py.Dataset) -> int | None:
    """The axis along which time runs, or None when the dataset is a single step.

    Box series have rank 4 (t, z, y, x); series of sensor points have the shape (1, t, point); outside
    k-Wave's formats a group holds `values` (sample first) next to `step`.
    """
    parts = dataset.name.strip("/").split("/")
    if parts[-1] == "values" and "step" in dataset.parent:
        return 0
    if dataset.ndim == 4:
        return 0
    if dataset.ndim == 3 and len(parts) == 1 and parts[0] in SERIES:
        return 1
    return None


def scalar(file: h5py.File, name: str):
    """The value of a scalar dataset as a Python number, or None when the file has no such number."""
    item = file.get(name)
    if not isinstance(item, h5py.Dataset) or item.size != 1 or item.dtype.kind not in "iuf":
        return None
    return item[()].reshape(-1)[0].item()


def text(value) -> str:
    """A string attribute, whatever way it was stored."""
    return value.decode("utf-8", "replace").rstrip("\0 ") if isinstance(value, bytes) else str(value)


def data_file(path: Path) -> Path:
    """The HDF5 file meant by `path`: itself, or `output.h5` in a run directory."""
    if path.is_dir():
        inside = path / "output.h5"
        if not inside.is_file():
            raise FileError(
                f"{path}: no output.h5 in this directory. Fix: name a run directory or an HDF5 file"
            )
        return inside
    if not path.exists():
        raise FileError(f"{path}: no such file or directory")
    return path


@contextmanager
def open_file(path: Path) -> Iterator[h5py.File]:
    """Opens a file for reading, also while a run writes to it; any failure becomes a FileError that says
    why.
    """
    path = data_file(Path(path))
    try:
        file = h5py.File(path, "r", locking="best-effort")
    except OSError as error:
        raise FileError(_why_not(path, str(error))) from error
    with file:
        try:
            yield file
        except Exception as error:
            if not raised_by_h5py(error):
                raise
            raise FileError(f"{path}: damaged: {error}. Fix: restore it from a copy, or run again") from error


def raised_by_h5py(error: Exception) -> bool:
    """Whether HDF5 could not read what an open file says that it has; h5py has no type for such errors."""
    innermost = deque(walk_tb(error.__traceback__), maxlen=1)
    return any("h5py" in Path(frame.f_code.co_filename).parts for frame, _ in innermost)


def _why_not(path: Path, reason: str) -> str:
    if "truncated file" in reason:
        size = path.stat().st_size
        return f"{path}: the file is truncated ({size} bytes are there). Fix: copy or run it again"
    if "signature not found" in reason:
        return f"{path}: not an HDF5 file"
    if "Permission denied" in reason:
        return f"{path}: no permission to read it"
    return f"{path}: cannot be opened: {reason}"


def datasets(root: h5py.File | h5py.Group) -> list[h5py.Dataset]:
    """All datasets below `root`, sorted by path, numbers in order (`p/2` before `p/10`)."""
    found = []

    def visit(_, item):
        if isinstance(item, h5py.Dataset):
            found.append(item)

    root.visititems(visit)
    return sorted(found, key=lambda dataset: _natural(dataset.name))


def _natural(path: str) -> list[tuple]:
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in path.strip("/").split("/")]
