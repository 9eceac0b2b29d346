# SPDX-License-Identifier: BSD-3-Clause
"""Compiles units and links the shared object. Objects are kept by content, in the user's cache or elsewhere.

An object is used again if its unit, the flags, the compiler and all files that it included are the same. What
all units include is compiled once, too.
"""

import fcntl
import json
import os
import re
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import xxhash

from tailrace.cores import usable_cores
from tailrace.fragments.compilers import Compiler
from tailrace.fragments.units import SIGNATURE, Unit

MAX_KEPT = 2000
MAX_KEPT_BYTES = 1 << 30
# What another run may be about to link stays.
IN_USE_S = 3600
HEADER = "ucenv.h"
PRECOMPILED = ".gch"
# So many units take as long as their header alone.
WORTH_A_HEADER = 4


def digest(*parts: bytes) -> str:
    """Of 128 bits; a fast one, because a precompiled header of tens of MB is looked at each time."""
    found = xxhash.xxh3_128()
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
    """Compiles with a cache in `folder`; `compiled` names the units that had to be compiled."""

    folder: Path
    compiler: Compiler
    compiled: list[str] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)
    """Of files that were read: each is looked at once."""

    def objects(self, units: Sequence[Unit]) -> tuple[list[Path], list[Failure]]:
        """The objects of all units, or what is wrong with some."""
        kept = [self.path_of(unit) for unit in units]
        missing = [number for number, path in enumerate(kept) if not self.is_kept(path)]
        self.compiled += [units[number].name for number in missing]
        header = self.header(len(missing))
        with ThreadPoolExecutor(usable_cores()) as pool:
            said = pool.map(lambda number: self.compile(units[number], kept[number], header), missing)
            failures = [one for one in said if one is not None]
        return kept, failures

    def path_of(self, unit: Unit) -> Path:
        debug = "-g" in self.compiler.command
        text = unit.text if debug or not unit.unplaced else unit.unplaced
        return self.folder / f"{digest(text.encode(), self.how.encode())}.o"

    @cached_property
    def how(self) -> str:
        return "\0".join(self.compiler.command) + self.compiler.version

    def compile(self, unit: Unit, kept: Path, header: Path | None) -> Failure | None:
        with tempfile.TemporaryDirectory(dir=self.folder) as place:
            source = Path(place) / "unit.cpp"
            source.write_text(unit.text)
            said = self.make(source, kept, header if unit.includes_header else None)
        return None if said is None else Failure(unit, said)

    def make(self, source: Path, kept: Path, header: Path | None = None) -> str | None:
        """Compiles a source to `kept` with its record; what the compiler said if it does not compile."""
        made, dependencies = source.with_suffix(".made"), source.with_suffix(".d")
        started = time.time()
        words = ["-include", header] if header is not None else []
        kind = ["-x", "c++-header"] if kept.suffix == PRECOMPILED else []
        done = self.compiler.run(*words, "-MD", "-MF", dependencies, *kind, "-c", source, "-o", made)
        if done.returncode != 0:
            return done.stderr
        files = [name for name in included(dependencies.read_text()) if Path(name) != source]
        if header is not None:
            files += json.loads(record_of(Path(f"{header}{PRECOMPILED}")).read_text())["files"]
        used = {name: self.digest_of(name) for name in dict.fromkeys(files)}
        note = source.with_suffix(".json")
        note.write_text(json.dumps({"object": digest(made.read_bytes()), "files": used}))
        made.replace(kept)
        # Of a file that was changed meanwhile nobody knows what the compiler saw.
        if all(Path(name).stat().st_mtime <= started for name in used):
            note.replace(record_of(kept))
        return None

    def header(self, units: int) -> Path | None:
        """What all units include, compiled; None where that costs more than it saves, or is impossible."""
        place = self.folder / "headers" / digest(self.how.encode())[:32]
        header = place / HEADER
        kept = place / f"{HEADER}{PRECOMPILED}"
        if not units or (units < WORTH_A_HEADER and not kept.exists()):
            return None
        if not self.is_kept(kept):
            place.mkdir(parents=True, exist_ok=True)
            with (place / "lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)  # whoever comes second uses what the first one makes
                if not self.is_kept(kept) and not self.made_header(header, kept):
                    return None
        return header

    def made_header(self, header: Path, kept: Path) -> bool:
        """Compiles what all units include."""
        with tempfile.TemporaryDirectory(dir=header.parent) as folder:
            source = Path(folder) / HEADER
            source.write_text(f"#include <{HEADER}>\n")
            if self.make(source, kept) is not None:
                return False
            source.replace(header)
        return self.is_kept(kept)

    def digest_of(self, file: str) -> str:
        if file not in self.digests:
            self.digests[file] = digest(Path(file).read_bytes())
        return self.digests[file]

    def is_kept(self, kept: Path) -> bool:
        """Whether an object is whole and made of files as they are now."""
        try:
            entry = json.loads(record_of(kept).read_text())
            if digest(kept.read_bytes()) != entry["object"]:
                return False
            if any(self.digest_of(name) != found for name, found in entry["files"].items()):
                return False
            os.utime(kept)
            return True
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return False

    def prune(self) -> None:
        """Removes what was used longest ago when there is too much, unless another run may use it now."""
        paths = [*self.folder.glob("*.o"), *self.folder.glob(f"headers/*/*{PRECOMPILED}")]
        found = sorted(
            ((path.stat(), path) for path in paths if path.exists()), key=lambda one: -one[0].st_mtime
        )
        size = 0
        for number, (stat, path) in enumerate(found):
            size += stat.st_size
            if number < MAX_KEPT and size <= MAX_KEPT_BYTES:
                continue
            if time.time() - stat.st_mtime > IN_USE_S:
                record_of(path).unlink(missing_ok=True)
                path.unlink(missing_ok=True)


def record_of(kept: Path) -> Path:
    return kept.with_name(f"{kept.name}.json")


def included(rule: str) -> list[str]:
    """The files of a rule of make, behind its colon."""
    names = rule.partition(":")[2].replace("\\\n", " ")
    return [name.replace("\\ ", " ") for name in re.split(r"(?<!\\)\s+", names) if name]


def link(compiler: Compiler, objects: Sequence[Path], target: Path) -> str:
    """Makes the shared object at once as a whole; what the linker said when it is impossible."""
    with tempfile.TemporaryDirectory(dir=target.parent) as place:
        made = Path(place) / target.name
        done = compiler.run("-shared", "-Wl,-z,defs", *objects, "-o", made, *compiler.link)
        if done.returncode == 0:
            made.replace(target)
    return "" if done.returncode == 0 else done.stderr
