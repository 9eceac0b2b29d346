# SPDX-License-Identifier: BSD-3-Clause
"""Which checkpoints a directory has."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from tailrace.checkpoints import manifest as manifests
from tailrace.checkpoints.damage import Damage, DamageError
from tailrace.checkpoints.manifest import Manifest, read_manifest
from tailrace.kwave import FileError

NAME = re.compile(r"step-(\d{12,})(\.partial)?")
PARTIAL = ".partial"
PLACE = "checkpoints"
HINT = f"Fix: name a run directory, its {PLACE}/, or one checkpoint"
FILES = "Files in the formats of other programs are read, and checked, by tailrace checkpoint convert"


@dataclass(frozen=True)
class Checkpoint:
    """A directory with the name of a checkpoint; `partial` is what a write left that did not end. `problem`
    is what a short look shows, at the manifest and the length of the file; then there is `damage`, or it is
    of another version. Without a manifest and a notable name the step is None.
    """

    path: Path
    step: int | None
    partial: bool
    size_bytes: int
    manifest: Manifest | None = None
    problem: str = ""
    damage: Damage | None = None

    @property
    def damaged(self) -> bool:
        return self.damage is not None

    @property
    def usable(self) -> bool:
        """Whether a run could resume from here, as far as a short look says."""
        return self.manifest is not None and not self.problem


def list_checkpoints(path: Path) -> list[Checkpoint]:
    """The checkpoints of a run directory or of its `checkpoints`, or the one that `path` is; by their steps,
    partial ones behind complete ones. Raises FileError where `path` is none of these.
    """
    if not path.is_dir():
        if path.exists():
            raise FileError(f"{path}: not a directory. {HINT}. {FILES}")
        raise FileError(f"{path}: no such directory. {HINT}")
    if is_checkpoint(path):
        return [look_at(path)]
    if not _is_place(path):
        raise FileError(f"{path}: no checkpoints are there. {HINT}")
    found = map(_look_among_others, _names_in(_place_of(path)))
    return sorted(found, key=lambda each: (each.partial, each.step))


def has_checkpoints(path: Path) -> bool:
    """Whether a directory is a checkpoint or a place of checkpoints, which may be empty."""
    return is_checkpoint(path) or _is_place(path)


def is_checkpoint(path: Path) -> bool:
    """Whether a directory is one checkpoint: by its name, or by its manifest if somebody renamed it."""
    named = NAME.fullmatch(path.resolve().name) is not None
    return named or (not _is_place(path) and (path / manifests.NAME).exists())


def _is_place(path: Path) -> bool:
    return _place_of(path).resolve().name == PLACE or bool(_names_in(path))


def _place_of(path: Path) -> Path:
    return path / PLACE if (path / PLACE).is_dir() else path


def _names_in(place: Path) -> list[Path]:
    return [item for item in place.iterdir() if NAME.fullmatch(item.name) and item.is_dir()]


def _look_among_others(directory: Path) -> Checkpoint:
    """One that this program does not know must not hide the others."""
    try:
        return look_at(directory)
    except FileError as error:
        return replace(_look_at_name(directory), problem=str(error))


def look_at(directory: Path) -> Checkpoint:
    """One checkpoint. Raises FileError for something else, and for a newer version."""
    found = _look_at_name(directory)
    if found.partial:
        return found
    try:
        manifest = read_manifest(directory)
        _check_length(directory / manifest.file_name, manifest)
    except DamageError as error:
        return replace(found, problem=str(error), damage=error.damage)
    return replace(found, step=manifest.step if found.step is None else found.step, manifest=manifest)


def _look_at_name(directory: Path) -> Checkpoint:
    found = NAME.fullmatch(directory.resolve().name)
    size_bytes = sum(item.stat().st_size for item in directory.iterdir() if item.is_file())
    return Checkpoint(directory, int(found[1]) if found else None, bool(found and found[2]), size_bytes)


def _check_length(path: Path, manifest: Manifest) -> None:
    """Raises DamageError when the HDF5 file is not there, or not as long as it was written."""
    size = path.stat().st_size if path.exists() else 0
    if size != manifest.file_bytes:
        found = f"it has {size} bytes" if path.exists() else "it is missing"
        problem = f"{found}, the manifest says {manifest.file_bytes} bytes"
        place = (min(size, manifest.file_bytes), max(size, manifest.file_bytes))
        raise DamageError(Damage(path.name, "length", problem, bytes=place))
