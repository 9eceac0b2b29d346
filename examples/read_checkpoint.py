#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Read and verify a checkpoint (docs/formats/checkpoint.md): python read_checkpoint.py step-000000000100"""

import json
import re
import sys
from pathlib import Path

import h5py
import numpy as np
from xxhash import xxh3_64_hexdigest, xxh3_64_intdigest


def need(condition, problem):
    if not condition:
        raise ValueError(problem)


def read_manifest(path):
    found = re.fullmatch(rb'(.*"xxh3"\s*:\s*")([0-9a-f]{16})("\s*\}\s*)', path.read_bytes(), re.DOTALL)
    sound = found and xxh3_64_hexdigest(found[1] + b"0" * 16 + found[3]) == found[2].decode()
    need(sound, f"{path}: it is damaged, or does not end with its checksum")
    manifest = json.loads(found[0])
    need(manifest["format"] == "tailrace checkpoint" and manifest["version"] < 3, f"{path}: another version")
    path = path.parent / manifest["file"]["name"]
    need(path.stat().st_size == manifest["file"]["bytes"], f"{path}: its length is another")
    content, outside = np.memmap(path, np.uint8, "r"), np.ones(path.stat().st_size, bool)
    for offset, size in manifest["data"]:
        outside[offset : offset + size] = False
    need(xxh3_64_hexdigest(content[outside]) == manifest["rest"], f"{path}: damaged outside of the data")
    return manifest, path


def decompressed(name, data, cells, about):
    from zstandard import decompress  # pip install zstandard

    dtype, each, plain = np.dtype(about["type"]), int(about["values_each"]), bytearray()
    for first, words, digest, _, count, _ in cells[:, -6:].tolist():
        stored, size = data[first : first + words].tobytes(), count * each * dtype.itemsize
        need(xxh3_64_intdigest(stored) == digest, f"{name}: {words} words from {first} on are damaged")
        if words < -(-size // 8):
            stored = np.frombuffer(decompress(stored), np.uint8).reshape(-1, count).T.tobytes()
        plain += stored[:size]
    need(sum(cells[:, -5].tolist()) == len(data), f"{name}: some words belong to no cell")
    return np.frombuffer(plain, dtype).reshape((-1, each) if about["kind"] == "records" else -1)


def field_of(data, cells, about):
    shape = tuple(map(int, about["extents"].split()))[::-1]
    field, boxes = np.zeros(shape, data.dtype), np.zeros(shape, np.int64)
    for x0, y0, z0, x1, y1, z1, *_, first, count, _ in cells.tolist():
        field[z0:z1, y0:y1, x0:x1] = data[first : first + count].reshape(z1 - z0, y1 - y0, x1 - x0)
        boxes[z0:z1, y0:y1, x0:x1] += 1
    need((boxes == 1).all(), "the boxes of a field do not cover the grid once")
    return field, sum(cells[:, -1].tolist())


def rows_of(data, _, about):
    raw, parts = data.view(np.uint8), json.loads(about["record_type"])["members"]
    dtype = np.dtype({p["name"]: ((p["type"], (p["count"],)[p["count"] == 1 :]), p["offset"]) for p in parts})
    return np.ascontiguousarray(raw[:, : dtype.itemsize]).view(dtype)[:, 0], sum(map(xxh3_64_intdigest, raw))


def items_of(data, cells, _):
    raw, items, digests, at = data.tobytes(), [], 0, 0
    while at < len(raw):
        size = int.from_bytes(raw[at : at + 8], "little")
        need(size <= len(raw) - at - 8, "an item is longer than the data")
        items.append(raw[at + 8 : at + 8 + size])
        digests, at = (
            digests + xxh3_64_intdigest(raw[at : at + 8 + -(-size // 8) * 8]),
            at + 8 + -(-size // 8) * 8,
        )
    return items, digests


def read_set(name, group, manifest):
    data, cells, parts = (group[part][()] for part in ("data", "cells", "parts"))
    about, row, end = {key: text.decode() for key, text in group["data"].attrs.items()}, 0, 0
    for first, entries, digest in parts[:, -3:].tolist():
        mine, row = cells[row : row + entries], row + entries
        right = (entries == 0 or first + entries == row) and xxh3_64_intdigest(mine) == digest
        need(right, f"{name}: the entries of a rank are damaged, or do not follow those before")
    data = decompressed(name, data, cells, about) if "compression" in about else data
    for begin, count, expected in cells[:, -3:].tolist():
        found, end = xxh3_64_intdigest(data[end : end + count]), end + count
        need((begin + count, expected) == (end, found), f"{name}: elements from {begin} on are damaged")
    said, counts = manifest["sets"][name], (len(parts), len(cells), len(data), end)
    need(counts == (manifest["ranks"], row, said["count"], said["count"]), f"{name}: counts are {counts}")
    array, total = {"field": field_of, "records": rows_of, "items": items_of}[about["kind"]](
        data, cells, about
    )
    need(f"{total % 2**64:016x}" == said["sum"], f"{name}: the sum is not that of the manifest")
    return array


def read_checkpoint(directory):
    """The manifest, and by paths such as solver/p: numbers, texts, arrays. ValueError where it is damaged."""
    manifest, path = read_manifest(Path(directory) / "manifest.json")
    with h5py.File(path) as file:
        parts = [file.get(part, {}) for part in ("values", "texts", "sets")]
        numbers, texts, sets = ({f"{c}/{n}": e for c, g in p.items() for n, e in g.items()} for p in parts)
        need(sets.keys() == manifest["sets"].keys(), f"{path}: its sets are not those of the manifest")
        tables = (table for group in sets.values() for table in (group["data"], group["cells"]) if table.size)
        right = sorted([table.id.get_offset(), table.nbytes] for table in tables) == manifest["data"]
        need(right, f"{path}: extents of the manifest hold bytes without a checksum, or not all data")
        arrays = {name: read_set(name, group, manifest) for name, group in sets.items()}
        words = {name: item.attrs["text"].decode() for name, item in texts.items()}
        return manifest, {name: item[()] for name, item in numbers.items()}, words, arrays


if __name__ == "__main__":
    for name, item in (pair for part in read_checkpoint(sys.argv[1]) for pair in part.items()):
        print(name, f"{item.dtype} {item.shape}" if getattr(item, "size", 0) > 8 else item)
