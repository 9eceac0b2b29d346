# SPDX-License-Identifier: BSD-3-Clause
"""Pictures as plotly figures, of the report and of `run.plot`: from values, not from files."""
