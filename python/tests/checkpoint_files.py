# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints for the tests, written from docs/formats/checkpoint.md with h5py, and with nothing of Tailrace.

`make_state` says what a small run has on three ranks, the middle one without anything. What a test changes
in it before `write` gets checksums that fit: such files are wrong in what they say, not damaged.
"""

import json
from pathlib import Path
from types import SimpleNamespace

import h5py
import numpy as np
import zstandard
from xxhash import xxh3_64_hexdigest, xxh3_64_intdigest

RANKS = 3
EXTENTS = (5, 4, 3)  # nx, ny, nz
BOXES = ([(0, 0, 0, 5, 4, 1)], [], [(0, 0, 1, 5, 2, 3), (0, 2, 1, 5, 4, 3)])
# 21 bytes: the last word of a row is filled with zeros.
MOLECULE = np.dtype([("id", "<i8"), ("r", "<f4", (3,)), ("flag", "|u1")])
KEYS = ([(3, 2), (7, 1)], [], [(7, 2), (9, 4)])  # and rows; cell 7 is shared
NO_DIGITS = "0" * 16


def field(shift: float = 0.0, dtype: str = "<f4") -> np.ndarray:
    return (np.arange(np.prod(EXTENTS)).reshape(EXTENTS[::-1]) / 8 + shift).astype(dtype)


def molecules(count: int = 9) -> np.ndarray:
    found = np.zeros(count, MOLECULE)
    found["id"] = np.arange(100, 100 + count)
    found["r"] = np.arange(3 * count).reshape(count, 3) / 4
    found["flag"] = 200 + np.arange(count)
    return found


def field_set(array: np.ndarray, boxes_of_ranks=BOXES) -> SimpleNamespace:
    data, entries, heads = [np.zeros(0, array.dtype)], [], []
    for boxes in boxes_of_ranks:
        mine = []
        for x0, y0, z0, x1, y1, z1 in boxes:
            cell = array[z0:z1, y0:y1, x0:x1].reshape(-1)
            first = sum(map(len, data))
            mine.append([x0, y0, z0, x1, y1, z1, first, len(cell), xxh3_64_intdigest(cell.tobytes())])
            data.append(cell)
        entries.append(mine)
        corners = np.array(boxes).reshape(-1, 6) if boxes else np.zeros((1, 6), int)
        heads.append([*corners[:, :3].min(axis=0).tolist(), *corners[:, 3:].max(axis=0).tolist()])
    total = sum(entry[-1] for mine in entries for entry in mine) % 2**64
    attributes = {"kind": "field", "extents": " ".join(map(str, array.shape[::-1]))}
    return SimpleNamespace(
        attributes=attributes,
        data=np.concatenate(data),
        count=array.size,
        entries=entries,
        heads=heads,
        sum=total,
        width=9,
        compressed=False,
    )


def row_set(row_values: np.ndarray, keys_of_ranks=KEYS) -> SimpleNamespace:
    size = row_values.dtype.itemsize
    padded = np.zeros((len(row_values), -(-size // 8) * 8), np.uint8)
    padded[:, :size] = row_values.view(np.uint8).reshape(len(row_values), size)
    entries, heads, first = [], [], 0
    for keys in keys_of_ranks:
        mine = []
        for key, count in keys:
            mine.append([key, first, count, xxh3_64_intdigest(padded[first : first + count].tobytes())])
            first += count
        entries.append(mine)
        heads.append([keys[0][0], keys[-1][0]] if keys else [0, 0])
    total = sum(xxh3_64_intdigest(row.tobytes()) for row in padded) % 2**64
    attributes = {"kind": "records", "record_type": row_type(row_values.dtype)}
    data = padded.view("<u8")
    return SimpleNamespace(
        attributes=attributes,
        data=data,
        count=len(data),
        entries=entries,
        heads=heads,
        sum=total,
        width=4,
        compressed=False,
    )


def item_set(items_of_ranks: list[list[tuple[int, bytes]]]) -> SimpleNamespace:
    """Keys and items of each rank, a cell for each item."""
    data, entries, heads, total = [np.zeros(0, "<u8")], [], [], 0
    for items in items_of_ranks:
        mine = []
        for key, item in items:
            raw = len(item).to_bytes(8, "little") + item + bytes(-len(item) % 8)
            digest = xxh3_64_intdigest(raw)
            mine.append([key, sum(map(len, data)), len(raw) // 8, digest])
            data.append(np.frombuffer(raw, "<u8"))
            total += digest
        entries.append(mine)
        heads.append([items[0][0], items[-1][0]] if items else [0, 0])
    words = np.concatenate(data)
    return SimpleNamespace(
        attributes={"kind": "items"},
        data=words,
        count=len(words),
        entries=entries,
        heads=heads,
        sum=total % 2**64,
        width=4,
        compressed=False,
    )


def compressed(plain: SimpleNamespace) -> SimpleNamespace:
    """The same set with its cells as frames of zstd, where these are smaller."""
    words, entries = [np.zeros(0, "<u8")], []
    for mine in plain.entries:
        entries.append([])
        for *head, first, count, digest in mine:
            stored = stored_cell(plain.data[first : first + count])
            place = [sum(map(len, words)), len(stored), xxh3_64_intdigest(stored.tobytes())]
            entries[-1].append([*head, *place, first, count, digest])
            words.append(stored)
    attributes = plain.attributes | {
        "compression": "zstd",
        "type": plain.data.dtype.str,
        "values_each": str(int(np.prod(plain.data.shape[1:]))),
    }
    changes = {"data": np.concatenate(words), "entries": entries, "attributes": attributes}
    return SimpleNamespace(**vars(plain) | changes | {"width": plain.width + 3, "compressed": True})


def stored_cell(cell: np.ndarray) -> np.ndarray:
    raw = cell.tobytes()
    turned = np.frombuffer(raw, np.uint8).reshape(len(cell), -1).T.tobytes()
    frame = zstandard.ZstdCompressor(level=1).compress(turned)
    least = frame if -(-len(frame) // 8) < -(-len(raw) // 8) else raw
    return np.frombuffer(least + bytes(-len(least) % 8), "<u8")


def row_type(dtype: np.dtype) -> str:
    members = []
    for name, (kind, offset, *_) in dtype.fields.items():
        base, shape = kind.subdtype or (kind, (1,))
        members.append({"name": name, "type": base.str, "offset": offset, "count": shape[0]})
    return json.dumps({"bytes": dtype.itemsize, "members": members})


def make_state(compress: bool = False) -> SimpleNamespace:
    state = SimpleNamespace(
        components={"solver": 2, "gas": 1},
        values={
            "solver/seed": np.array([2**63 + 1], "<u8"),
            "solver/steps": np.array([-3, 4], "<i8"),
            "gas/energy_J": np.array([0.1, np.nan], "<f8"),
            "gas/none": np.zeros(0, "<f8"),
        },
        texts={"solver/wavelet": "Gauß, 3 µs", "gas/title": ""},
        sets={
            "solver/p": field_set(field()),
            "solver/u": field_set(field(1.0, "<f8")),
            "gas/molecules": row_set(molecules()),
            "gas/walls": row_set(molecules(0), ([], [], [])),
        },
        ranks=RANKS,
    )
    if compress:
        state.sets = {path: compressed(each) for path, each in state.sets.items()}
    return state


def write(directory: Path, step: int = 100, state: SimpleNamespace | None = None, **manifest) -> Path:
    """Writes `step-...` into a directory; `manifest` replaces entries of the manifest."""
    state = state or make_state()
    place = directory / f"step-{step:012d}"
    place.mkdir(parents=True)
    with h5py.File(place / "state.h5", "w") as file:
        put_numbers(file, state)
        for path, each in state.sets.items():
            put_set(file.create_group(f"sets/{path}"), each)
        file["tailrace_record"] = np.zeros((1, 1, 3), "<u8")
    seal(place, describe(place, state, step) | manifest)
    return place


def put_numbers(file: h5py.File, state: SimpleNamespace) -> None:
    for name, version in state.components.items():
        file[f"components/{name}"] = np.array([version], "<i8")
    for path, numbers in state.values.items():
        file[f"values/{path}"] = numbers
    for path, words in state.texts.items():
        file[f"texts/{path}"] = np.array([len(words.encode())], "<u8")
        put_text(file[f"texts/{path}"], "text", words)


def put_text(item: h5py.Dataset, name: str, words: str) -> None:
    """With a zero at its end, so that it may be empty."""
    item.attrs[name] = np.array(words.encode(), f"S{len(words.encode()) + 1}")


def put_set(group: h5py.Group, each: SimpleNamespace) -> None:
    group["data"] = each.data
    for name, words in each.attributes.items():
        put_text(group["data"], name, words)
    rows = [entry for mine in each.entries for entry in mine]
    group["cells"] = np.array(rows, "<u8").reshape(len(rows), each.width)
    parts, row = [], 0
    for head, mine in zip(each.heads, each.entries, strict=True):
        parts.append([*head, row, len(mine), xxh3_64_intdigest(np.array(mine, "<u8").tobytes())])
        row += len(mine)
    group["parts"] = np.array(parts, "<u8")


def places(file: Path, tables=("data", "cells")) -> dict[tuple[str, str], tuple[int, int]]:
    """Where the tables of the sets begin, and their bytes."""
    found = {}
    with h5py.File(file) as opened:
        for component, sets in opened.get("sets", {}).items():
            for name, group in sets.items():
                for table in tables:
                    if group[table].size:
                        place = group[table].id.get_offset(), group[table].nbytes
                        found[f"{component}/{name}", table] = place
    return found


def describe(place: Path, state: SimpleNamespace, step: int) -> dict:
    content = (place / "state.h5").read_bytes()
    data = sorted(places(place / "state.h5").values())
    rest, end = b"", 0
    for offset, size in data:
        rest += content[end:offset]
        end = offset + size
    return {
        "format": "tailrace checkpoint",
        "version": 2 if any(each.compressed for each in state.sets.values()) else 1,
        "simulation": "gas",
        "program": "tailrace-gas 0.1.0",
        "step": step,
        "time_s": step * 2e-6,
        "ranks": state.ranks,
        "created": "2026-11-22T09:30:00Z",
        "file": {"name": "state.h5", "bytes": len(content)},
        "data": data,
        "rest": xxh3_64_hexdigest(rest + content[end:]),
        "sets": {path: {"count": each.count, "sum": f"{each.sum:016x}"} for path, each in state.sets.items()},
    }


def seal(place: Path, manifest: dict) -> None:
    text = json.dumps({**manifest, "xxh3": NO_DIGITS}, indent=1) + "\n"
    begin = text.rindex(NO_DIGITS)
    sealed = text[:begin] + xxh3_64_hexdigest(text.encode()) + text[begin + len(NO_DIGITS) :]
    (place / "manifest.json").write_text(sealed)


def reseal(place: Path, **changes) -> None:
    """Changes entries of the manifest of a checkpoint; its checksum fits again."""
    manifest = json.loads((place / "manifest.json").read_text())
    del manifest["xxh3"]
    seal(place, manifest | changes)


def change(path: Path, at: int) -> None:
    """One bit of a file."""
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)
