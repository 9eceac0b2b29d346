# SPDX-License-Identifier: BSD-3-Clause
"""Plain values as TOML text."""

import json


def toml_text(tables: dict) -> str:
    """Nested dictionaries as a TOML document: values first, then tables, then arrays of tables."""
    return "\n".join(_lines(tables, ())).strip() + "\n" if tables else ""


def _lines(table: dict, path: tuple[str, ...]) -> list[str]:
    plain = {key: value for key, value in table.items() if not _is_table(value) and not _is_tables(value)}
    lines = [f"{_key(key)} = {_value(value)}" for key, value in plain.items() if value is not None]
    if lines and path:
        lines.insert(0, f"[{'.'.join(map(_key, path))}]")
    for key, value in table.items():
        if _is_table(value):
            lines += ["", *_lines(value, (*path, key))]
        elif _is_tables(value):
            for entry in value:
                inner = _lines(entry, (*path, key))
                lines += ["", f"[[{'.'.join(map(_key, (*path, key)))}]]", *inner[1:]]
    return lines


def _is_table(value) -> bool:
    return isinstance(value, dict)


def _is_tables(value) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, dict) for entry in value)


def _key(key: str) -> str:
    return key if key.replace("_", "").replace("-", "").isalnum() and key.isascii() else json.dumps(key)


def _value(value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(_value(entry) for entry in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)} = {_value(entry)}" for key, entry in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
