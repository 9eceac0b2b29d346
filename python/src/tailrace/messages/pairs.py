# SPDX-License-Identifier: BSD-3-Clause
"""Sizes as a line of pairs `count:size`, such as `4470:40 250:42500`."""

import re
from collections import Counter
from pathlib import Path

from tailrace.console import CommandError
from tailrace.messages.counts import GROUPS, Profile, Sizes

PAIR = re.compile(r"(\d{1,18}):(\d{1,18})")


def pairs_text(sizes: Sizes) -> str:
    """The sizes in order; those that were counted in classes appear with the mean size of their class."""
    counts = Counter(sizes.exact)
    for _, _, messages, size in sizes.coarse:
        counts[round(size / messages)] += messages
    return " ".join(f"{count}:{size}" for size, count in sorted(counts.items()))


def profile_text(profile: Profile) -> str:
    """A line per process and group, behind a comment that says which."""
    lines = []
    for process in profile.processes:
        for group in GROUPS:
            own = Sizes()
            for (of, _), sizes in process.kinds.items():
                if of == group:
                    own.add(sizes)
            if own.total.messages:
                lines += [f"# {process.name}, {group}", pairs_text(own)]
    return "".join(f"{line}\n" for line in lines)


def read_pairs(text: str, origin: str) -> Sizes:
    """All pairs of a text, in which `#` begins comments. Raises CommandError for anything else in it."""
    found: Counter[int] = Counter()
    for number, line in enumerate(text.splitlines(), start=1):
        for word in re.split(r"[\s,]+", line.partition("#")[0].strip()):
            if word and not (match := PAIR.fullmatch(word)):
                raise CommandError(f"{origin}:{number}: {word!r} is no pair count:size, such as 12:1024.")
            if word:
                found[int(match[2])] += int(match[1])
    return Sizes(+found)


def read_pairs_file(path: Path) -> Sizes:
    try:
        return read_pairs(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path}: cannot be read: {error}. Give a text of pairs count:size.") from None
