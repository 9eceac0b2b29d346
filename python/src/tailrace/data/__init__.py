"""Outputs as labelled arrays: `tailrace.open(path)`.

`source` finds the files of a run, `grid` places them in space and time, `layout` says what each dataset of
the output is, `nodes` makes lazy xarray datasets of them, `run` is the object that users hold, `plots` its
pictures, and `engine` offers the same to `xarray.open_dataset`.
"""
