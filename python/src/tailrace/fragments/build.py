# SPDX-License-Identifier: BSD-3-Clause
"""Compiles units and links the shared object. Objects are kept by content in the user's cache.

An object is used again if its unit, the flags, the compiler and all files that it included are the same.
"""

import hashlib
import json
import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tailrace.console import CommandError
from tailrace.cores import usable_cores
from tailrace.fragments.units import SIGNATURE, Unit

PACKAGE = Path(__file__).parent
INCLUDE = (PACKAGE / "include", PACKAGE.parents[3] / "include")
FLAGS = ("-std=c++17", "-O3", "-fPIC")
MAX_KEPT = 2000


@dataclass(frozen=True)
class Compiler:
    """The C++ compiler with its flags, and how it calls itself."""

    command: tuple[str, ...]
    link: tuple[str, ...]
    version: str


def find_compiler() -> Compiler:
    """The compiler of the environment: CXX, CXX_FLAGS and LDFLAGS, g++ if nothing is said."""
    words = tuple(shlex.split(os.environ.get("CXX") or "g++"))
    try:
        version = subprocess.run([*words, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise CommandError(
            f"the C++ compiler {words[0]} cannot be started\n  Fix: install g++, or set CXX"
        ) from error
    places = tuple(f"-I{place}" for place in INCLUDE if place.is_dir())
    extra = tuple(shlex.split(os.environ.get("CXX_FLAGS", "")))
    return Compiler(
        (*words, *FLAGS, *places, *extra), tuple(shlex.split(os.environ.get("LDFLAGS", ""))), version
    )


def digest(*parts: bytes) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(len(part).to_bytes(8, "little") + part)
    return found.hexdigest()


@dataclass(frozen=True)
class Failure:
    """A unit that does not compile, and what the compiler said."""

    unit: Unit
    text: str

    @property
    def wrong_imports(self) -> set[str]:
        return set(re.findall(rf"{SIGNATURE}: (\w+)", self.text))


@dataclass
class Builder:
    """Compiles with a cache below `folder`; `compiled` names the units that had to be compiled."""

    folder: Path
    compiler: Compiler
    compiled: list[str]

    def objects(self, units: Sequence[Unit]) -> tuple[list[Path], list[Failure]]:
        """The objects of all units, or what is wrong with some."""
        with ThreadPoolExecutor(usable_cores()) as pool:
            made = list(pool.map(self.object_of, units))
        return [one for one in made if isinstance(one, Path)], [
            one for one in made if isinstance(one, Failure)
        ]

    def object_of(self, unit: Unit) -> Path | Failure:
        flags = "\0".join(self.compiler.command) + self.compiler.version
        key = digest(unit.text.encode(), flags.encode())
        kept, record = self.folder / f"{key}.o", self.folder / f"{key}.json"
        return kept if is_valid(kept, record) else self.compile(unit, kept, record)

    def compile(self, unit: Unit, kept: Path, record: Path) -> Path | Failure:
        self.compiled.append(unit.name)
        with tempfile.TemporaryDirectory(dir=self.folder) as place:
            source, made, dependencies = (Path(place) / f"unit.{end}" for end in ("cpp", "o", "d"))
            source.write_text(unit.text)
            words = [*self.compiler.command, "-MD", "-MF", dependencies, "-c", source, "-o", made]
            done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
            if done.returncode != 0:
                return Failure(unit, done.stderr)
            files = [Path(name) for name in included(dependencies.read_text()) if name != str(source)]
            entry = {
                "object": digest(made.read_bytes()),
                "files": {str(one): digest(one.read_bytes()) for one in files},
            }
            note = Path(place) / "entry.json"
            note.write_text(json.dumps(entry))
            made.replace(kept)
            note.replace(record)
        return kept

    def prune(self) -> None:
        """Removes the objects that were made longest ago when there are too many."""
        kept = sorted(self.folder.glob("*.o"), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in kept[MAX_KEPT:]:
            path.with_suffix(".json").unlink(missing_ok=True)
            path.unlink(missing_ok=True)


def included(rule: str) -> list[str]:
    """The files of a rule of make, behind its colon."""
    names = rule.partition(":")[2].replace("\\\n", " ")
    return [name.replace("\\ ", " ") for name in re.split(r"(?<!\\)\s+", names) if name]


def is_valid(kept: Path, record: Path) -> bool:
    """Whether an object is whole and made of files as they are now."""
    try:
        entry = json.loads(record.read_text())
        if digest(kept.read_bytes()) != entry["object"]:
            return False
        return all(digest(Path(name).read_bytes()) == found for name, found in entry["files"].items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def program_text(document: dict) -> str:
    """C++ that holds a document under the names by which the native program finds it."""
    text = json.dumps(document, separators=(",", ":"))
    chunks = (text[start : start + 2000] for start in range(0, len(text), 2000))
    literal = "\n".join(json.dumps(chunk) for chunk in chunks)
    return (
        'extern "C" {\nextern const char tailrace_fragments_program[];\n'
        "extern const unsigned long long tailrace_fragments_program_size;\n"
        f"const char tailrace_fragments_program[] = {literal};\n"
        f"const unsigned long long tailrace_fragments_program_size = {len(text)};\n}}\n"
    )


def link(compiler: Compiler, objects: Sequence[Path], target: Path) -> str:
    """Makes the shared object at once as a whole; what the linker said when it is impossible."""
    with tempfile.TemporaryDirectory(dir=target.parent) as place:
        made = Path(place) / target.name
        words = [*compiler.command, "-shared", "-Wl,-z,defs", *objects, "-o", made, *compiler.link]
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode == 0:
            made.replace(target)
    return "" if done.returncode == 0 else done.stderr
