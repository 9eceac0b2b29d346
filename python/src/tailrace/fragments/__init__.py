# SPDX-License-Identifier: BSD-3-Clause
"""The front end of the fragment language, a module per pass; `check` runs them all.

source -> preprocess (Expanded) -> parse (Program) -> names (Bound) -> types -> usage, ranges (warnings)
"""
