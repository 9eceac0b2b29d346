# SPDX-License-Identifier: BSD-3-Clause
"""The commands of `tailrace`, one module each: their options and nothing else."""
