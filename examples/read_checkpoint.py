#!/usr/bin/env python3
"""Read and verify a checkpoint (docs/formats/checkpoint.md): python read_checkpoint.py step-000000000100"""

import json
import re
import sys
from pathlib import Path

import h5py
import numpy as np
from xxhash import xxh3_64, xxh3_64_hexdigest, xxh3_64_intdigest


def need(condition, problem):
    if not condition:
        raise ValueError(problem)


def read_manifest(path):
    text = path.read_bytes()
    found = re.search(rb'"xxh3"\s*:\s*"([0-9a-f]{16})"\s*\}\s*\Z', text)
    need(found, f"{path}: it does not end with its checksum")
    zeroed = text[: found.start(1)] + b"0" * 16 + text[found.end(1) :]
    need(xxh3_64_hexdigest(zeroed) == found[1].decode(), f"{path}: it is damaged")
    manifest = json.loads(text)
    need((manifest["format"], manifest["version"]) == ("tailrace checkpoint", 1), f"{path}: another version")
    return manifest


def check_rest(path, manifest):
    need(path.stat().st_size == manifest["file"]["bytes"], f"{path}: its length is another")
    content, rest, end = np.memmap(path, np.uint8, "r"), xxh3_64(), 0
    for offset, size in [*manifest["data"], [len(content), 0]]:
        rest.update(content[end:offset])
        end = offset + size
    need(rest.hexdigest() == manifest["rest"], f"{path}: it is damaged outside of the data")


def field_of(data, cells, about):
    shape = tuple(map(int, about["extents"].split()))[::-1]
    field, boxes = np.zeros(shape, data.dtype), np.zeros(shape, np.int64)
    for x0, y0, z0, x1, y1, z1, first, count, _ in cells.tolist():
        field[z0:z1, y0:y1, x0:x1] = data[first : first + count].reshape(z1 - z0, y1 - y0, x1 - x0)
        boxes[z0:z1, y0:y1, x0:x1] += 1
    need((boxes == 1).all(), "the boxes of a field do not cover the grid once")
    return field, sum(cells[:, -1].tolist())


def records_of(data, _, about):
    record, raw = json.loads(about["record_type"]), data.view(np.uint8)
    layout = {f"{key}s": [member[key] for member in record["members"]] for key in ("name", "offset")}
    layout["formats"] = [(m["type"], m["count"]) if m["count"] > 1 else m["type"] for m in record["members"]]
    dtype = np.dtype({**layout, "itemsize": record["bytes"]})
    return np.ascontiguousarray(raw[:, : dtype.itemsize]).view(dtype)[:, 0], sum(map(xxh3_64_intdigest, raw))


def read_set(name, group, manifest):
    data, cells, parts = (group[part][()] for part in ("data", "cells", "parts"))
    row = end = 0
    for first, entries, digest in parts[:, -3:].tolist():
        mine, row = cells[row : row + entries], row + entries
        need(entries == 0 or first + entries == row, f"{name}: the parts do not follow each other")
        need(xxh3_64_intdigest(mine) == digest, f"{name}: the entries of a rank are damaged")
        for begin, count, expected in mine[:, -3:].tolist():
            right = begin == end and xxh3_64_intdigest(data[begin : begin + count]) == expected
            need(right, f"{name}: {count} elements from {begin} on are damaged")
            end += count
    said, counts = manifest["sets"][name], (len(parts), len(cells), len(data), end)
    need(counts == (manifest["ranks"], row, said["count"], said["count"]), f"{name}: counts are {counts}")
    about = {key: text.decode() for key, text in group["data"].attrs.items()}
    array, total = (field_of if about["kind"] == "field" else records_of)(data, cells, about)
    need(f"{total % 2**64:016x}" == said["sum"], f"{name}: the sum is not that of the manifest")
    return array


def entries(file, part):
    return {f"{c}/{name}": item for c, group in file.get(part, {}).items() for name, item in group.items()}


def read_checkpoint(directory):
    """The manifest, and by paths such as solver/p: numbers, texts, arrays. ValueError where it is damaged."""
    manifest = read_manifest(Path(directory) / "manifest.json")
    path, stretches = Path(directory) / manifest["file"]["name"], manifest["data"]
    check_rest(path, manifest)
    with h5py.File(path) as file:
        numbers, texts, sets = (entries(file, part) for part in ("values", "texts", "sets"))
        need(sets.keys() == manifest["sets"].keys(), f"{path}: its sets are not those of the manifest")
        tables = (group[part] for group in sets.values() for part in ("data", "cells"))
        places = [(each.id.get_offset(), each.nbytes) for each in tables if each.size]
        inside = [n for at, n in places if any(a <= at and at + n <= a + b for a, b in stretches)]
        need(sum(inside) == sum(n for _, n in stretches), f"{path}: stretches hold bytes without a checksum")
        arrays = {name: read_set(name, group, manifest) for name, group in sets.items()}
        texts = {name: item.attrs["text"].decode() for name, item in texts.items()}
        return manifest, {name: item[()] for name, item in numbers.items()}, texts, arrays


if __name__ == "__main__":
    for name, item in (pair for part in read_checkpoint(sys.argv[1]) for pair in part.items()):
        print(name, f"{item.dtype} {item.shape}" if getattr(item, "size", 0) > 8 else item)
