# SPDX-License-Identifier: BSD-3-Clause
"""What all commands share: exit statuses, and the error that ends a command."""

import errno

EXIT_OK = 0
EXIT_NO = 1
EXIT_BAD_INPUT = 2
EXIT_RUN_FAILED = 3
EXIT_STOPPED = 4


# What can be done about what the system refuses.
FIXES = {
    errno.EACCES: "permission for it, or another place",
    errno.EPERM: "permission for it, or another place",
    errno.EROFS: "another place: this file system is read-only",
    errno.ENOSPC: "make room, or name another place",
    errno.ENOENT: "name one that is there",
    errno.EISDIR: "name a file",
    errno.ENOTDIR: "name a directory",
}


class CommandError(Exception):
    """Ends a command with one message and an exit status (bad usage or input unless said otherwise)."""

    def __init__(self, message: str, exit_code: int = EXIT_BAD_INPUT) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def taken(out: object) -> CommandError:
    """What is there is not replaced unless the command says so."""
    return CommandError(f"{out} exists already. Name another --out, or replace it with --overwrite.")


def refused(error: OSError) -> str:
    """What the system does not let us do, with its place and what can be done."""
    said = f"{error.filename}: {error.strerror}" if error.filename else str(error)
    return f"{said}\n  Fix: {FIXES[error.errno]}" if error.errno in FIXES else said


def count_of(number: int, noun: str) -> str:
    """'1 rank', '2 ranks'."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
