# SPDX-License-Identifier: BSD-3-Clause
"""Benchmarks of the user's machine: whole runs one after the other, compared by ratios, every raw sample
kept.

The source checkout has more in benchmarks/: comparisons with other programs, and studies.
"""
