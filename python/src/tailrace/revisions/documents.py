# SPDX-License-Identifier: BSD-3-Clause
"""The measured numbers of a document that `tailrace bench ... --json FILE` wrote, each with a name."""

from collections.abc import Iterator
from typing import Any

MEASURED = ("median", "interval", "samples")


def measured_numbers(document: Any) -> list[tuple[str, float]]:
    """The median of each number with repetitions, named by the way to it: `rows grid=32 ranks=1 time_ratio`.
    Entries of a list are named by their first values that are words or whole numbers, or by their place
    where those are not enough.
    """
    return [(" ".join(way), value) for way, value in _walk(document, ())]


def _walk(node: Any, way: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], float]]:
    if isinstance(node, dict) and all(key in node for key in MEASURED):
        yield way, float(node["median"])
    elif isinstance(node, dict):
        for key, value in node.items():
            yield from _walk(value, (*way, key))
    elif isinstance(node, list):
        for name, value in zip(_names(node), node, strict=True):
            yield from _walk(value, (*way, name) if name else way)


def _names(entries: list[Any]) -> list[str]:
    """Of each entry the shortest row of leading values that no other entry has."""
    leading = [_leading(entry) for entry in entries]
    for count in range(max(map(len, leading), default=0) + 1):
        names = [" ".join(values[:count]) for values in leading]
        if len(set(names)) == len(names):
            return names
    return [str(place) for place in range(len(entries))]


def _leading(entry: Any) -> list[str]:
    values = entry.items() if isinstance(entry, dict) else ()
    return [f"{key}={value}" for key, value in values if isinstance(value, str | int)]
