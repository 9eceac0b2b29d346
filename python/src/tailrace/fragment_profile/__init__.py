# SPDX-License-Identifier: BSD-3-Clause
"""What the traces of a fragment program say: totals, stages, shares of time, dependencies, values."""
