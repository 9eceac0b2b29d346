#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Finds words that the glossary has replaced (docs/reference/glossary.md), in code, messages and docs.

    check_terms.py [FILE...]

Names that stay in files of older versions are allowed, as is what a field calls so. CHANGELOG.md is history.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUFFIXES = {".cpp", ".hpp", ".py", ".md", ".cmake", ".txt", ".toml", ".sh", ".js", ".j2"}
EXEMPT = {"CHANGELOG.md", "scripts/check_terms.py", "docs/reference/glossary.md"}

# Word by word of identifiers and prose: take_seat, Seats, "a seat".
WORDS = {
    "seat": "thread placement",
    "tenant": "process",
    "crew": "I/O servers",
    "muster": "handshake",
    "desk": "connection",
    "outlet": "output pipeline",
    "pilot": "auto-tuner",
    "parcel": "packet",
    "portion": "batch",
    "stretch": "extent",
    "piece": "share, batch",
    "leg": "segment",
    "drain": "flush",
    "swarm": "particles",
    "census": "validate",
    "victim": "kill target",
    "trial": "fixture",
    "tenants": "processes",
}
PHRASES = {
    r"\b(?:go|goes|going|gone|went) on\b": "resume, continue",
    r"\bheld up\b(?! to)": "stalled",
    r"\bbehind the (?:computation|simulation)\b": "asynchronous",
    r"\bin turn\b": "synchronous, one after the other",
    r"\b(?:told|tells?)\b": "report, say, state",
    r"\bagree_on(?:_root)?\b": "collectively",
    r"\bpatient_send\b": "synchronous_send",
    r"\bchoose_honest_io\b": "prefer_romio",
    r"\bsettled?\b": "finalize",
    r"\bsuspend(?:ed|s)?\b": "close for restart",
    r"\b(?:stands?|stood)\b": "is, stays unchanged",
    r"\btakes? up\b(?! to)": "reload, continue",
    r"\banswer that says no\b": "negative result",
    r"\b(?:most|least)_\w+": "max_, min_",
    r"\b(?:MOST|LEAST)_\w+": "MAX_, MIN_",
    r"\bRecord(?:Set|Type|Slice|sLookup|sView|Layout|Item)\b": "row",
    r"\brecord_(?:path|spec|slots|items)\b": "commit mark",
}
# What may stay, with its reason.
ALLOWED = (
    r"stand-in|stand_in",  # the noun
    r"[\"'/`=]legs\b|\blegs/|runs/legs|\bLEGS\b",  # the folder of a run directory
    r"<Piece|</Piece",  # VTK's format
    r"output_after_leg\d",  # data of the tests
    r"least_cells",  # a key of cases
    r"at_least_\w+",
)


def words_pattern() -> re.Pattern[str]:
    ends = {word: ("es" if word.endswith("tch") else "s") for word in WORDS}
    every = "|".join(f"{word}(?:{ends[word]})?" for word in sorted(WORDS, key=len, reverse=True))
    capital = "|".join(f"{word.capitalize()}(?:{ends[word]})?" for word in WORDS)
    return re.compile(rf"(?<![A-Za-z])(?:{every})(?![a-z])|(?<![A-Z])(?:{capital})(?![a-z])")


WORD = words_pattern()
PHRASE = [(re.compile(pattern), term) for pattern, term in PHRASES.items()]
ALLOW = re.compile("|".join(ALLOWED))


def term_of(found: str) -> str:
    low = found.lower()
    return next(term for word, term in WORDS.items() if low.startswith(word))


def hits(line: str) -> list[tuple[str, str]]:
    """Old words of a line, each with the term that replaces it."""
    rest = ALLOW.sub(" ", line)
    found = [(match[0], term_of(match[0])) for match in WORD.finditer(rest)]
    return found + [(match[0], term) for pattern, term in PHRASE for match in pattern.finditer(rest)]


def files() -> list[str]:
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    programs = {"tailrace", "scripts/check", ".ci/run"}
    return [
        path
        for path in tracked
        if (Path(path).suffix in SUFFIXES or path in programs)
        and path not in EXEMPT
        and not path.startswith("tests/data/")
    ]


def main(arguments: list[str]) -> int:
    count = 0
    for path in arguments or files():
        for number, line in enumerate((ROOT / path).read_text().splitlines(), start=1):
            for word, term in hits(line):
                print(f"{path}:{number}: '{word}' is not a term of the glossary. Fix: {term}")
                count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
