# SPDX-License-Identifier: BSD-3-Clause
"""The files behind an output: the output itself, the input it was made from, the account of the run."""

from dataclasses import dataclass, replace
from pathlib import Path

import h5py

from tailrace import commit_mark, kwave
from tailrace.data.directory import read_directory
from tailrace.data.grid import Case, Grid, grid_of_account, placed, read_case
from tailrace.data.mask import Mask, read_mask

OTHER_FILES = {
    "input": "an input file, not an output. Fix: name the output, and give this file as input=",
    "checkpoint": "a checkpoint: it holds the state for continuing, no recorded data. Fix: name the output",
}


@dataclass
class Source:
    """An output file with what is known of its run; `case` and `grid` are None when nothing describes them.

    `input` is the input file that was used, None when there is none.
    """

    path: Path
    input: Path | None
    account: dict
    case: Case | None
    grid: Grid | None
    mask: Mask
    commit_mark: commit_mark.CommitMark
    attributes: dict[str, str]


def read_source(path: Path, input_file: Path | None) -> Source:
    """Finds and reads what describes the output at `path`, a file or a run directory; no samples are read.

    Without `input_file` the input is looked for where run.json says. Raises kwave.FileError.
    """
    output, found, account = _locate(Path(path))
    given = None if input_file is None else Path(input_file)
    with kwave.open_file(output) as file:
        attributes = {name: kwave.text(value) for name, value in file.attrs.items()}
        kind = attributes.get("file_type", "")
        if kind in OTHER_FILES:
            raise kwave.FileError(f"{output}: this is {OTHER_FILES[kind]}")
        case = read_case(file)
        if given is not None:
            return _with_input(output, file, case, given, account, attributes)
        if found is not None:
            try:
                return _with_input(output, file, case, found, account, attributes)
            except kwave.FileError:
                pass  # An input that was changed or replaced since the run: better none than a wrong one.
        return _source(output, None, account, case, [file], attributes)


def _locate(path: Path) -> tuple[Path, Path | None, dict]:
    """Output, input and account; a file inside a run directory is taken with its account."""
    if path.is_dir():
        run = read_directory(path)
        return run.output or kwave.data_file(path), run.input, run.account
    if (path.parent / "run.json").is_file() and path.is_file():
        run = read_directory(path.parent)
        if run.output is not None and run.output.samefile(path):
            return path, run.input, run.account
    return kwave.data_file(path), None, {}


def _with_input(output, file, case, input_path: Path, account, attributes) -> Source:
    with kwave.open_file(input_path) as given:
        kind = kwave.text(given.attrs.get("file_type", ""))
        if kind != "input":
            raise kwave.FileError(f"{input_path}: not a k-Wave input file (file_type is {kind or 'absent'})")
        described = read_case(given)
        if described is None:
            raise kwave.FileError(f"{input_path}: it does not describe a grid (Nx, Ny, Nz, Nt, dx, dy, dt)")
        sizes = described.grid.sizes
        if case is not None and case.grid.sizes != sizes:
            raise kwave.FileError(
                f"{input_path}: its grid {sizes} is not that of {output}, {case.grid.sizes}. "
                "Fix: give the input of this run"
            )
        source = _source(output, input_path, account, case or described, [file, given], attributes)
        if not _mask_fits(file, source):
            raise kwave.FileError(
                f"{input_path}: its sensor mask is not that of {output}. Fix: give the input of this run"
            )
        return source


def _mask_fits(file: h5py.File, source: Source) -> bool:
    """Whether the mask has as many points, or boxes of the same size, as the output's streams."""
    for name, item in file.items():
        meaning = kwave.meaning(name)
        if meaning is None or not meaning.reduction or is_whole(name, item, source.grid):
            continue
        if isinstance(item, h5py.Dataset):
            if source.mask.points is None or item.shape[-1:] != (len(source.mask.points),):
                return False
        elif not all(_box_fits(box, source.mask) for box in kwave.datasets(item)):
            return False
    return True


def _box_fits(dataset: h5py.Dataset, mask: Mask) -> bool:
    number = dataset.name.split("/")[-1]
    known = mask.boxes is not None and number.isdigit() and 0 < int(number) <= len(mask.boxes)
    return known and dataset.shape[-3:] == mask.boxes[int(number) - 1].shape


def is_whole(name: str, item: h5py.Dataset | h5py.Group, grid: Grid | None) -> bool:
    """Whether a stream in the root of a file covers the whole domain."""
    if name.endswith(("_all", "_final")):
        return True
    averaged = name in (*kwave.INTENSITIES, "Q_term")  # on sensors or on all points: only the shape says
    return averaged and grid is not None and isinstance(item, h5py.Dataset) and item.shape == grid.shape


def _source(output, input_path, account, case, files: list[h5py.File], attributes) -> Source:
    mask = Mask() if case is None else read_mask(files, case.grid)
    grid = placed(grid_of_account(account), files[0]) if case is None else case.grid
    found = commit_mark.read(files[0])
    if found.planned is None and case is not None:
        found = replace(found, planned=case.steps)
    return Source(output, input_path, account, case, grid, mask, found, attributes)
