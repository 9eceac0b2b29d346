#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the tables of keys in docs/reference/case_file.md from what the programs say of their cases.

scripts/case_page.py [--check] BIN_DIR
With --check it changes nothing and fails if the page is not current.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "case_file.md"
COMMON = ("case", "write", "checkpoint", "trace")
KINDS = {"boolean": "true or false", "integer": "integer", "number": "number", "string": "text"}


def keys(schema: dict[str, Any], prefix: str = "") -> dict[str, dict[str, Any]]:
    """Name to schema of every key, in the program's order; "output.every" for those of a list of tables."""
    found = {}
    for name, value in schema.get("properties", {}).items():
        if "x-meaning" in value:
            found[prefix + name] = value | {"required": name in schema.get("required", ())}
        found |= keys(value, f"{prefix}{name}.")
        if value.get("type") == "array":
            found |= keys(value["items"], f"{prefix}{name}.")
    return found


def kind(value: dict[str, Any]) -> str:
    if "enum" in value:
        return ", ".join(f'`"{word}"`' for word in value["enum"])
    if value.get("type") == "array":
        return f"list: {kind(value['items'])}" if value.get("items") else "list"
    text = KINDS.get(value.get("type", ""), "see right")
    low, high = value.get("minimum"), value.get("maximum")
    if low is not None:
        text += f" from {low:g} to {high:g}" if high is not None else f" of at least {low:g}"
    return text


def default(value: dict[str, Any]) -> str:
    if value["required"]:
        return "required"
    return f"`{json.dumps(value['default'])}`" if "default" in value else value.get("x-default", "")


def table(found: dict[str, dict[str, Any]]) -> str:
    rows = [
        f"| `{name}` | {kind(value)} | {value['x-meaning']} | {default(value)} |"
        for name, value in found.items()
    ]
    return "\n".join(["| key | value | meaning | default |", "|---|---|---|---|", *rows])


def tables(directory: Path) -> dict[str, str]:
    """The table for each marker of the page."""
    found = {}
    programs = [Path(name) for name in re.findall(r"<!-- keys of (\w+) -->", PAGE.read_text())]
    for simulation in sorted({str(name) for name in programs} - {"any", "output"}):
        command = [str(directory / f"tailrace-{simulation}"), "--case-schema"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        all_keys = keys(json.loads(done.stdout))
        common = {name: value for name, value in all_keys.items() if name.split(".")[0] in COMMON}
        common["case.simulation"].pop("enum", None)
        output = {name: value for name, value in all_keys.items() if name.startswith("output.")}
        output["output.quantity"].pop("enum", None)
        special = {"output.pml", "output.bins"} & set(output)
        own = {
            name: value
            for name, value in all_keys.items()
            if name not in common and (name not in output or name in special)
        }
        for name in special:
            del output[name]
        found |= {"any": table(common), "output": table(output), simulation: table(own)}
    return found


def main() -> int:
    arguments = [word for word in sys.argv[1:] if word != "--check"]
    if len(arguments) != 1:
        print(__doc__)
        return 2
    old = PAGE.read_text()
    new = old
    for name, text in tables(Path(arguments[0])).items():
        before, marker, rest = new.partition(f"<!-- keys of {name} -->\n")
        new = before + marker + text + "\n" + rest[rest.index("<!-- end -->") :]
    if "--check" in sys.argv:
        if new != old:
            print(f"{PAGE} is not current. Fix: scripts/case_page.py {arguments[0]}")
        return int(new != old)
    PAGE.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
