# SPDX-License-Identifier: BSD-3-Clause
"""The manifest of a checkpoint: what it says, and whether it is as it was written."""

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from xxhash import xxh3_64_hexdigest

from tailrace.checkpoints.damage import Damage, DamageError
from tailrace.kwave import FileError

NAME = "manifest.json"
FORMAT = "tailrace checkpoint"
VERSIONS = (1, 2)
CHECKSUM = re.compile(rb'"xxh3"\s*:\s*"([0-9a-f]{16})"\s*\}\s*\Z')
DIGEST = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True)
class SetSummary:
    """Of a set: its elements or rows, and the sum of their checksums."""

    count: int
    sum: int


@dataclass(frozen=True)
class Manifest:
    """What a manifest says. `data` are the extents (offset, bytes) of the file with checksums of their own,
    `rest` is the checksum of its other bytes.
    """

    simulation: str
    program: str
    step: int
    time_s: float
    ranks: int
    created: datetime
    file_name: str
    file_bytes: int
    data: tuple[tuple[int, int], ...]
    rest: int
    sets: dict[str, SetSummary]


def read_manifest(directory: Path) -> Manifest:
    """Reads the manifest of the checkpoint in a directory. Raises DamageError where it is not as it was
    written, FileError where it is not ours to check: of something else, or of a newer version.
    """
    path = directory / NAME
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        raise _damaged("it is missing") from None
    found = CHECKSUM.search(text)
    if found and xxh3_64_hexdigest(_without_digits(text, found)) != found[1].decode():
        raise _damaged("its bytes are not those that were written")
    table = _table_of(text)
    if table is not None:
        _check_format(path, table)
    if table is None or not found:
        raise _damaged("it does not end with its checksum: cut off, or changed")
    return _manifest_of(table)


def _damaged(problem: str) -> DamageError:
    return DamageError(Damage(NAME, "manifest", problem))


def _without_digits(text: bytes, found: re.Match[bytes]) -> bytes:
    return text[: found.start(1)] + b"0" * len(found[1]) + text[found.end(1) :]


def _table_of(text: bytes) -> dict[str, Any] | None:
    try:
        table = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return table if isinstance(table, dict) else None


def _check_format(path: Path, table: dict[str, Any]) -> None:
    if table.get("format") != FORMAT:
        raise FileError(
            f'{path}: format is {_shown(table.get("format"))}, not "{FORMAT}". '
            "Fix: name a checkpoint of Tailrace, or a run directory"
        )
    version = table.get("version")
    if _is_count(version) and version > VERSIONS[-1]:
        raise FileError(
            f"{path}: version is {version}, this program knows {VERSIONS[-1]} and older ones. "
            "Fix: use the Tailrace that wrote it, or a newer one"
        )


def _manifest_of(table: dict[str, Any]) -> Manifest:
    """The manifest from a table whose bytes are sound: what is wrong now was written so."""
    _take(table, "version", lambda value: value in VERSIONS, "1 or 2")
    file = _take(table, "file", _is_table, "a table")
    file_bytes = _take(file, "bytes", _is_count, "a length in bytes")
    sets = _take(table, "sets", _is_table, "a table")
    return Manifest(
        simulation=_take(table, "simulation", _is_text, "a text"),
        program=_take(table, "program", _is_text, "a text"),
        step=_take(table, "step", _is_count, "a step"),
        time_s=_take(table, "time_s", _is_number, "a time in seconds"),
        ranks=_take(table, "ranks", lambda value: _is_count(value) and value > 0, "a number of ranks"),
        created=_time_of(_take(table, "created", _is_text, "a time")),
        file_name=_take(file, "name", _is_file_name, "the name of a file in this directory"),
        file_bytes=file_bytes,
        data=_extents(table, file_bytes),
        rest=_digest(table, "rest"),
        sets={path: _summary(path, entry) for path, entry in sets.items()},
    )


def _take(table: dict[str, Any], key: str, is_right: Callable[[Any], bool], expected: str) -> Any:
    value = table.get(key)
    if not is_right(value):
        raise _damaged(f"{key} is {_shown(value)}, not {expected}")
    return value


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


def _is_file_name(value: Any) -> bool:
    return _is_text(value) and value not in (".", "..") and "/" not in value and "\0" not in value


def _digest(table: dict[str, Any], key: str) -> int:
    digits = _take(
        table, key, lambda value: _is_text(value) and DIGEST.fullmatch(value) is not None, "16 digits"
    )
    return int(digits, 16)


def _summary(path: str, entry: Any) -> SetSummary:
    if not _is_table(entry):
        raise _damaged(f"sets, {path} is {_shown(entry)}, not a table")
    return SetSummary(_take(entry, "count", _is_count, "a count"), _digest(entry, "sum"))


def _time_of(text: str) -> datetime:
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise _damaged(f"created is {_shown(text)}, not a time such as 2026-11-22T09:30:00Z") from None


def _extents(table: dict[str, Any], file_bytes: int) -> tuple[tuple[int, int], ...]:
    extents, end = [], 0
    for item in _take(table, "data", lambda value: isinstance(value, list), "a list"):
        pair = isinstance(item, list) and len(item) == 2 and all(map(_is_count, item))
        if not pair or item[0] < end or sum(item) > file_bytes:
            raise _damaged(f"data has {_shown(item)}, which is not the next extent of {file_bytes} bytes")
        extents.append((item[0], item[1]))
        end = sum(item)
    return tuple(extents)
