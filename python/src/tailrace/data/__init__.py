# SPDX-License-Identifier: BSD-3-Clause
"""Outputs as labelled arrays: `tailrace.open(path)`.

`source` finds the files of a run, `grid` places them in space and time, `layout` says what each dataset of
the output is, `nodes` makes lazy xarray datasets of them, `run` is the object that users hold, `unmask` puts
sensor points back on the grid, `cuts` selects planes and points for the pictures of `plots`, and `engine`
offers the same arrays to `xarray.open_dataset`.
"""
