# SPDX-License-Identifier: BSD-3-Clause
"""Revisions of a git repository, each checked out in a worktree of its own in the cache; the user's work
tree is only read.
"""

import hashlib
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tailrace.console import CommandError
from tailrace.revisions.definition import Definition
from tailrace.revisions.numbers import last_lines

WORK_TREE = "."
MARK = ".tailrace-built"
# The words of git's dates; names of months and days may be short. Any other one means now.
DATE_WORDS = re.compile(
    "never|now|today|yesterday|noon|midnight|tea|am|pm|ago|last|next|at|of|and|the|to|t|z|utc|gmt|"
    "second|minute|hour|day|week|month|year|seconds|minutes|hours|days|weeks|months|years|zero|one|"
    "two|three|four|five|six|seven|eight|nine|ten|jan[a-z]*|feb[a-z]*|mar[a-z]*|apr[a-z]*|may|"
    "jun[a-z]*|jul[a-z]*|aug[a-z]*|sep[a-z]*|oct[a-z]*|nov[a-z]*|dec[a-z]*|sun[a-z]*|mon[a-z]*|"
    "tue[a-z]*|wed[a-z]*|thu[a-z]*|fri[a-z]*|sat[a-z]*"
)


@dataclass(frozen=True)
class Revision:
    """A commit, by its id; `name` is what the user called it, or its short id."""

    id: str
    name: str
    subject: str = ""
    date: str = ""


class BuildFailedError(Exception):
    """A revision cannot be checked out or built; the text has the last lines of the log."""


@dataclass(frozen=True)
class Repository:
    """A git repository, and where its revisions are checked out."""

    path: Path
    cache: Path

    @staticmethod
    def at(path: Path) -> "Repository":
        done = git(path, "rev-parse", "--show-toplevel")
        if done.returncode != 0:
            raise CommandError(f"{path}: no git repository: {last_lines(done.stderr, 1)}")
        root = Path(done.stdout.strip()).resolve()
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        key = hashlib.sha256(str(root).encode()).hexdigest()[:12]
        return Repository(root, base / "tailrace" / "revisions" / f"{root.name}-{key}")

    def revisions(self, words: list[str], every: int = 1, since: str | None = None) -> list[Revision]:
        """Of ids, tags, ranges A..B with both ends, and the work tree `.`, in the order given, each once."""
        ids: dict[str, str] = {}
        for word in words:
            found = self.range(word, every, since) if ".." in word else [self.one(word)]
            for one in found:
                ids.setdefault(one, one[:10] if ".." in word or one.startswith(word) else word)
        return [self.describe(one, name) for one, name in ids.items()]

    def one(self, word: str) -> str:
        if word == WORK_TREE:
            return self.work_tree()
        done = git(self.path, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{word}^{{commit}}")
        if done.returncode != 0:
            raise CommandError(f"{self.path}: {word}: no such revision. {self.hint()}")
        return done.stdout.strip()

    def hint(self) -> str:
        shallow = git(self.path, "rev-parse", "--is-shallow-repository").stdout.strip() == "true"
        return "The repository is shallow. Fix: git fetch --unshallow" if shallow else "Fix: see git log"

    def work_tree(self) -> str:
        """The work tree with its changes to known files as a commit of its own, on no branch."""
        done = git(self.path, "stash", "create", "work tree")
        return done.stdout.strip() or self.one("HEAD")

    def range(self, word: str, every: int, since: str | None) -> list[str]:
        """From the first to the last, by the first parents; every so many, both ends among them."""
        first, _, last = word.partition("..")
        begin, end = self.one(first or "HEAD"), self.one(last.lstrip(".") or "HEAD")
        between = self.between(begin, end, *([f"--since={since}"] if since else []))
        whole = [begin, *between] if not since else between
        if not whole:
            raise CommandError(f"{self.path}: {word}: no revisions are between these. {self.hint()}")
        kept = whole[::every]
        return kept if kept[-1] == whole[-1] else [*kept, whole[-1]]

    def between(self, begin: str, end: str, *options: str) -> list[str]:
        """The revisions after `begin`, up to `end`, oldest first."""
        done = git(self.path, "rev-list", "--reverse", "--first-parent", *options, f"{begin}..{end}")
        return done.stdout.split()

    def describe(self, one: str, name: str) -> Revision:
        date, _, subject = git(self.path, "show", "-s", "--format=%cI %s", one).stdout.strip().partition(" ")
        return Revision(one, name, subject, date)

    def checked_out(self, revision: Revision, test: Definition) -> Path:
        """The directory of the test in the worktree of a revision, built. What was built before is used
        again.
        """
        tree = self.cache / revision.id
        if not (tree / ".git").exists():
            self.add_worktree(tree, revision)
        directory = tree / test.directory
        if not directory.is_dir():
            raise BuildFailedError(f"{test.directory}: this revision has no such directory")
        mark = tree / f"{MARK}-{test.identity}"
        if not mark.exists():
            for command in filter(None, (test.setup, test.build)):
                self.build(command, directory, test, tree)
            mark.touch()
        return directory

    def add_worktree(self, tree: Path, revision: Revision) -> None:
        self.cache.mkdir(parents=True, exist_ok=True)
        git(self.path, "worktree", "prune")
        done = git(self.path, "worktree", "add", "--detach", "--force", str(tree), revision.id)
        if done.returncode == 0 and (tree / ".gitmodules").exists():
            done = git(tree, "submodule", "update", "--init", "--recursive")
        if done.returncode != 0:
            raise BuildFailedError(f"git: {last_lines(done.stderr)}")

    def build(self, command: str, directory: Path, test: Definition, tree: Path) -> None:
        """Builds that ask get no answer; their words are in a log beside the worktree."""
        log = self.cache / f"{tree.name}.log"
        with log.open("w") as file:
            done = subprocess.run(
                command, shell=True, cwd=directory, env=dict(os.environ) | test.environment,
                stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, check=False,
            )  # fmt: skip
        if done.returncode != 0:
            text = last_lines(log.read_text(errors="replace"))
            raise BuildFailedError(f"`{command}` ended with status {done.returncode} ({log}):\n{text}")

    def clean(self) -> None:
        """Removes all worktrees of the cache; results stay."""
        for tree in sorted(self.cache.iterdir()) if self.cache.is_dir() else ():
            if (tree / ".git").exists():
                git(self.path, "worktree", "remove", "--force", str(tree))


def check_date(text: str) -> None:
    """Raises CommandError for what is no date: git takes it for now."""
    words = re.findall(r"[a-z]+", re.sub(r"(?<=\d)(st|nd|rd|th)\b", "", text.lower()))
    known = all(DATE_WORDS.fullmatch(word) for word in words)
    if not known or not (words or re.search(r"\d", text)):
        raise CommandError(f"--since {text}: is no date. Fix: 2026-11-29, or '2 weeks ago'")


def git(directory: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs git as this user has it, without questions, and without what a surrounding git command (a hook, a
    bisection) has set for itself.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.run(
        ["git", "-C", str(directory), *words],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
        env=kept | {"GIT_TERMINAL_PROMPT": "0"},
    )  # fmt: skip
