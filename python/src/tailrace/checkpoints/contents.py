"""What stands in the HDF5 file of a checkpoint: numbers, texts and sets, and whether they fit together.

Only for files whose bytes outside of the data are those that were written: what is wrong with the structure
was written so.
"""

from collections.abc import Iterator
from itertools import chain

import h5py

from tailrace.checkpoints.damage import Damage
from tailrace.checkpoints.manifest import Manifest
from tailrace.checkpoints.sets import check_set
from tailrace.checkpoints.source import Source
from tailrace.kwave import datasets

NUMBERS = ("<i8", "<u8", "<f8")


def check_contents(file: h5py.File, manifest: Manifest, source: Source) -> Iterator[Damage]:
    """What is wrong in the file, data included."""
    for problem in chain(_wrong_components(file), _wrong_numbers(file), _wrong_texts(file)):
        yield Damage(source.name, "values", problem)
    sets = _sets_of(file)
    for path in sorted(sets.keys() ^ manifest.sets.keys()):
        where = "the manifest" if path in sets else "the file"
        yield Damage(source.name, "set", f"it is not in {where}", path)
    for path in sorted(sets.keys() & manifest.sets.keys()):
        yield from check_set(path, sets[path], manifest, source)
    yield from _wrong_stretches(sets, manifest, source)


def _wrong_components(file: h5py.File) -> Iterator[str]:
    versions = file.get("components", {})
    for name, version in versions.items():
        if version.dtype.str != "<i8" or version.shape != (1,):
            yield f"/components/{name} is {version.dtype} {version.shape}, not one int64"
    used = {name for part in ("values", "texts", "sets") for name in file.get(part, {})}
    for name in sorted(used - set(versions)):
        yield f"/components/{name} is missing"


def _wrong_numbers(file: h5py.File) -> Iterator[str]:
    for numbers in _datasets_of(file, "values"):
        if numbers.dtype.str not in NUMBERS or numbers.ndim != 1:
            yield f"{numbers.name} is {numbers.dtype} {numbers.shape}, not a list of 64-bit numbers"


def _wrong_texts(file: h5py.File) -> Iterator[str]:
    for length in _datasets_of(file, "texts"):
        if length.dtype.str != "<u8" or length.shape != (1,) or "text" not in length.attrs:
            yield f"{length.name} is not one uint64 with the attribute text"
        elif length[0] != len(_text_bytes(length.attrs["text"])):
            yield f"{length.name}: the text has not the {length[0]} bytes that it is said to have"


def _text_bytes(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode("utf-8", "surrogateescape")


def _datasets_of(file: h5py.File, part: str) -> list[h5py.Dataset]:
    return datasets(file[part]) if part in file else []


def _sets_of(file: h5py.File) -> dict[str, h5py.Group]:
    return {
        f"{component}/{name}": group
        for component, groups in file.get("sets", {}).items()
        for name, group in groups.items()
    }


def _wrong_stretches(sets: dict[str, h5py.Group], manifest: Manifest, source: Source) -> Iterator[Damage]:
    """The stretches hold data and entries of cells: other bytes in them would be under no checksum."""
    tables = [group[name] for group in sets.values() for name in ("data", "cells") if name in group]
    held = sum(table.nbytes for table in tables if _is_inside(table, manifest))
    stretched = sum(size for _, size in manifest.data)
    if stretched != held:
        problem = f"{stretched - held} bytes of the manifest's data are in no set, and under no checksum"
        yield Damage(source.name, "rest", problem)


def _is_inside(table: h5py.Dataset, manifest: Manifest) -> bool:
    begin = table.id.get_offset()
    if begin is None:
        return False
    end = begin + table.nbytes
    return any(first <= begin and end <= first + size for first, size in manifest.data)
