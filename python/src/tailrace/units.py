# SPDX-License-Identifier: BSD-3-Clause
"""Numbers with units for people: one way to write sizes, durations and quantities everywhere."""

import math
import shutil

from rich.console import Console


def bytes_text(size: float | None) -> str:
    """A size in decimal units: 1.25 GB."""
    if size is None:
        return "-"
    value = float(size)
    for unit in ("B", "kB", "MB", "GB", "TB", "PB"):
        if abs(value) < 999.5 or unit == "PB":
            return f"{value:.0f} B" if unit == "B" else f"{significant(value)} {unit}"
        value /= 1000.0
    raise AssertionError("unreachable: the last unit takes every size")


def duration_text(seconds: float | None) -> str:
    """A duration as people say it: 340 µs, 12.5 s, 3 min 20 s, 2 h 5 min."""
    if seconds is None:
        return "-"
    if seconds < 59.95:
        return "0 s" if seconds == 0 else si_text(seconds, "s")
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


def si_text(value: float, unit: str) -> str:
    """A quantity with the prefix that keeps the number between 1 and 1000: 8.06 MPa."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g} {unit}"
    factor, prefix = si_scale(abs(value))
    return f"{significant(value / factor)} {prefix}{unit}"


def si_scale(peak: float) -> tuple[float, str]:
    """Factor and prefix that bring `peak` between 1 and 1000."""
    if peak <= 0 or not math.isfinite(peak):
        return 1.0, ""
    prefixes = {-12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T"}
    exponent = 3 * math.floor(math.log10(peak * (1 + 1e-9)) / 3)
    exponent = min(12, max(-12, exponent))
    return 10.0**exponent, prefixes[exponent]


REDUCED = "reduced"
# Units that take no prefix, as pictures show them.
PLAIN = {"": "", "1": "", REDUCED: "", "points": "points"}


def unit_scale(peak: float, unit: str) -> tuple[float, str]:
    """Factor and unit that bring `peak` between 1 and 1000; numbers whose unit takes no prefix stay."""
    if unit in PLAIN:
        return 1.0, PLAIN[unit]
    factor, prefix = si_scale(peak)
    return factor, prefix + unit


def quantity_text(value: float, unit: str) -> str:
    """A quantity in a unit of the data, with the prefix that it may have: 8.06 MPa, 1.5 in reduced units."""
    return f"{value:.6g} {PLAIN[unit]}".rstrip() if unit in PLAIN else si_text(value, unit)


def titled(name: str, unit: str) -> str:
    """The title of an axis: pressure [MPa], or the name alone."""
    return f"{name} [{unit}]" if unit else name


def significant(value: float, digits: int = 3) -> str:
    """Rounded to `digits` significant digits, without an exponent for everyday sizes."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{decimals}f}"


def number_text(value: float | int | None) -> str:
    """A number in short form; whole numbers in full."""
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.6g}"


def wide_console() -> Console:
    """A console that leaves table lines whole: terminals wrap or scroll, files and pipes keep everything."""
    return Console(highlight=False, width=max(shutil.get_terminal_size().columns, 180))
