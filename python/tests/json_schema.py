# SPDX-License-Identifier: BSD-3-Clause
"""Checks JSON against a schema: the part of JSON Schema (draft 2020-12) that our schemas use. A word that it
does not know is an error, so that nothing in a schema is passed over.
"""

from collections.abc import Iterator
from typing import Any

TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float)}
ABOUT = {"$schema", "title", "$defs"}


def problems(
    value: Any, schema: dict[str, Any], root: dict[str, Any] | None = None, at: str = "$"
) -> list[str]:
    """What is wrong with a value; empty when it fits."""
    root = schema if root is None else root
    if "type" in schema and not _is_a(value, schema["type"]):
        return [f"{at} is no {schema['type']}: {value!r}"]
    found = []
    for word, wanted in schema.items():
        if word not in ABOUT and word != "type":
            found += list(_check(word, wanted, value, schema, root, at))
    return found


def _is_a(value: Any, name: str) -> bool:
    return isinstance(value, TYPES[name]) and not isinstance(value, bool)


def _check(word: str, wanted: Any, value: Any, schema: dict, root: dict, at: str) -> Iterator[str]:
    match word:
        case "$ref":
            yield from problems(value, root["$defs"][wanted.removeprefix("#/$defs/")], root, at)
        case "const":
            if value != wanted:
                yield f"{at} is not {wanted!r}: {value!r}"
        case "enum":
            if value not in wanted:
                yield f"{at} is none of {wanted}: {value!r}"
        case "minimum":
            if not value >= wanted:
                yield f"{at} is below {wanted}: {value!r}"
        case "minLength" | "minProperties":
            if len(value) < wanted:
                yield f"{at} is too short: {value!r}"
        case "oneOf":
            tried = [problems(value, one, root, at) for one in wanted]
            if sum(not one for one in tried) != 1:
                yield f"{at} fits not exactly one: {min(tried, key=len)}"
        case "required":
            yield from (f"{at} lacks {name}" for name in wanted if name not in value)
        case "properties":
            for name in wanted.keys() & value.keys():
                yield from problems(value[name], wanted[name], root, f"{at}.{name}")
        case "additionalProperties":
            for name in value.keys() - schema.get("properties", {}).keys():
                if wanted is False:
                    yield f"{at} has {name}, which is not foreseen"
                else:
                    yield from problems(value[name], wanted, root, f"{at}.{name}")
        case "items":
            for number, item in enumerate(value):
                yield from problems(item, wanted, root, f"{at}[{number}]")
        case _:
            raise ValueError(f"{at}: the word {word} of the schema is not known here")
