# SPDX-License-Identifier: BSD-3-Clause
"""What the report shows of the results of each simulation: the module NAME belongs to the simulation NAME.

Each has `fill(section, run, output)`, which adds pictures and notes to the section and returns key numbers,
and may have `COUNTED`, what the sizes of its grid count. `general` is in for those without a module.
"""

import importlib
import importlib.util
from types import ModuleType


def page_of(simulation: str) -> ModuleType:
    """The module that shows the results of a simulation."""
    known = simulation.isidentifier() and importlib.util.find_spec(f"{__name__}.{simulation}")
    return importlib.import_module(f"{__name__}.{simulation if known else 'general'}")
