# SPDX-License-Identifier: BSD-3-Clause
"""The front end of the fragment language, a module per pass; `check` runs them all.

source -> preprocess (Expanded) -> parse (Program) -> names (Bound) -> types -> usage, ranges (warnings)

Programs in Python enter behind the parser; what they are written with is here.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tailrace.fragments.expressions import choose, to_int, to_real, to_string
    from tailrace.fragments.outputs import Changeable, Name, Value
    from tailrace.fragments.program import Program, df, home, label, loop, nfparam, repeat, replicated, when

__all__ = [
    "Changeable", "Name", "Program", "Value", "choose", "df", "home", "label", "loop", "nfparam", "repeat",
    "replicated", "to_int", "to_real", "to_string", "when",
]  # fmt: skip
_HOMES = dict.fromkeys(__all__, "program")
_HOMES |= dict.fromkeys(("choose", "to_int", "to_real", "to_string"), "expressions")
_HOMES |= dict.fromkeys(("Changeable", "Name", "Value"), "outputs")


def __getattr__(name: str) -> Any:
    """Commands that compile import this package, too, and do not wait for what they do not need."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
