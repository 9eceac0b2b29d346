# SPDX-License-Identifier: BSD-3-Clause
"""Traces of a run: which thread of which rank did what, and when (docs/formats/trace.md)."""

from tailrace.trace.format import EVENT, KINDS
from tailrace.trace.read import RankTrace, RunTrace, read_run, trace_files
from tailrace.trace.records import ACTIVITIES, RECORD, STAGES, STEPS, Summary, TypeName

__all__ = [
    "ACTIVITIES",
    "EVENT",
    "KINDS",
    "RECORD",
    "STAGES",
    "STEPS",
    "RankTrace",
    "RunTrace",
    "Summary",
    "TypeName",
    "read_run",
    "trace_files",
]
