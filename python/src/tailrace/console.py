# SPDX-License-Identifier: BSD-3-Clause
"""What all commands share: exit statuses, and the error that ends a command."""

EXIT_OK = 0
EXIT_NO = 1
EXIT_BAD_INPUT = 2
EXIT_RUN_FAILED = 3
EXIT_STOPPED = 4


class CommandError(Exception):
    """Ends a command with one message and an exit status (bad usage or input unless said otherwise)."""

    def __init__(self, message: str, exit_code: int = EXIT_BAD_INPUT) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def count_of(number: int, noun: str) -> str:
    """'1 rank', '2 ranks'."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
