"""Reads every byte of a checkpoint and names what is not as it was written."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
from xxhash import xxh3_64

from tailrace.checkpoints.contents import check_contents
from tailrace.checkpoints.damage import Damage, DamageError
from tailrace.checkpoints.listing import NAME, Checkpoint, check_length
from tailrace.checkpoints.manifest import Manifest, read_manifest
from tailrace.checkpoints.source import Advance, Source
from tailrace.progress import ByteMeter, make_progress


@dataclass
class Verdict:
    """On one checkpoint."""

    path: str
    step: int | None
    size_bytes: int
    damage: list[Damage] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        return not self.damage

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values for JSON."""
        return {
            "path": self.path,
            "step": self.step,
            "size_bytes": self.size_bytes,
            "sound": self.sound,
            "damage": [damage.as_dict() for damage in self.damage],
        }


def verify_all(checkpoints: list[Checkpoint]) -> list[Verdict]:
    """Verifies those that are complete, and shows on standard error how far that is. One that a run or
    somebody else removes meanwhile is left out.
    """
    complete = [checkpoint for checkpoint in checkpoints if not checkpoint.partial]
    total_bytes = sum(checkpoint.size_bytes for checkpoint in complete)
    with make_progress() as display:
        meter = ByteMeter(display, "verifying", total_bytes)
        verdicts = [
            Verdict(str(each.path), each.step, each.size_bytes, verify(each.path, meter.advance))
            for each in complete
        ]
    return [verdict for verdict in verdicts if verdict.sound or Path(verdict.path).exists()]


def verify(directory: Path, advance: Advance = lambda size_bytes: None) -> list[Damage]:
    """All damage of the checkpoint in a directory; `advance` is told of the bytes that were read. Raises
    FileError for something else than a checkpoint and for a newer version.
    """
    return list(_damage(directory, advance))


def _damage(directory: Path, advance: Advance) -> Iterator[Damage]:
    try:
        manifest = read_manifest(directory)
        yield from _check_name(directory, manifest)
        path = directory / manifest.file_name
        check_length(path, manifest)
        with Source(path, advance) as source:
            _check_rest(source, manifest)
            yield from _look_inside(path, manifest, source)
    except DamageError as found:
        yield found.damage


def _check_name(directory: Path, manifest: Manifest) -> Iterator[Damage]:
    found = NAME.fullmatch(directory.resolve().name)
    if found and int(found[1]) != manifest.step:
        problem = f"this is the name of step {int(found[1])}, the manifest is of step {manifest.step}"
        yield Damage(directory.name, "name", problem)


def _check_rest(source: Source, manifest: Manifest) -> None:
    """The bytes outside of the data. Where they are damaged HDF5 must not be let near them."""
    hashed, end = xxh3_64(), 0
    for offset, size in (*manifest.data, (manifest.file_bytes, 0)):
        for piece in source.pieces(end, offset - end):
            hashed.update(piece)
        end = offset + size
    if hashed.intdigest() != manifest.rest:
        problem = "bytes outside of the data are not those that were written; its sets were not looked at"
        raise DamageError(Damage(source.name, "rest", problem))


def _look_inside(path: Path, manifest: Manifest, source: Source) -> Iterator[Damage]:
    try:
        with h5py.File(path, "r", locking="best-effort") as file:
            yield from check_contents(file, manifest, source)
    except (OSError, KeyError, AttributeError, RuntimeError, TypeError, ValueError) as error:
        raise DamageError(Damage(source.name, "rest", f"it was not written as HDF5: {error}")) from error
