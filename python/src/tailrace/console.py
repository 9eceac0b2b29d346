"""What all commands share: exit statuses, the error that ends a command, and the way numbers are shown."""

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


def format_bytes(count: float) -> str:
    """A size in decimal units with three significant digits, as disks are sold."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(count) < 999.5:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"


def format_seconds(duration_s: float) -> str:
    """A duration a person reads at a glance: 0.25 s, 12.3 s, 4 min 05 s, 2 h 03 min."""
    if duration_s < 9.995:
        return f"{duration_s:.2f} s"
    if duration_s < 99.95:
        return f"{duration_s:.1f} s"
    minutes, seconds = divmod(round(duration_s), 60)
    if minutes < 60:
        return f"{minutes} min {seconds:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min"


def count_of(number: int, noun: str) -> str:
    """'1 rank', '2 ranks'."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
