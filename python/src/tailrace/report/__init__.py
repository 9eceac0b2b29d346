# SPDX-License-Identifier: BSD-3-Clause
"""The report: one self-contained HTML page about a run. Pure functions over the files of a run directory."""

from tailrace.report.page import write_report

__all__ = ["write_report"]
