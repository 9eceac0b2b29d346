# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace.open`: an output as an object with its variables, its tree and its plots."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import xarray as xr

from tailrace import kwave
from tailrace.data import nodes
from tailrace.data.plots import Plots
from tailrace.data.source import read_source
from tailrace.data.unmask import unmask


class Run:
    """An opened output. `run["p_max_all"]`, `run["p/1"]` or `run["snap"]` is a labelled, lazy array.

    `path` and `input` are the files in use (`input` None without one), `account` is run.json (empty without
    one); `source` holds what describes them: grid, sensors, how far the commit mark is.
    """

    def __init__(
        self, path: Path, input: Path | None = None, pml: bool = True, incomplete: bool = False
    ) -> None:
        self.source = read_source(path, input)
        self._nodes = nodes.build(self.source, pml, incomplete)
        self.path, self.input, self.account = self.source.path, self.source.input, self.source.account

    def require_data(self) -> "Run":
        """This run. Raises kwave.FileError when nothing was recorded."""
        if not self._nodes.datasets and not self._nodes.left_out:
            raise kwave.FileError(f"{self.path}: no recorded data of Tailrace or k-Wave in this file")
        return self

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all variables: k-Wave's paths such as `p/1`, an [[output]] table's own name."""
        return tuple(self._places)

    @cached_property
    def _places(self) -> dict[str, tuple[str, str]]:
        """Node and variable by name."""
        places = {}
        for node, dataset in self._nodes.datasets.items():
            for variable, array in dataset.data_vars.items():
                name = node if variable == "values" else str(array.attrs["path"])
                places[name] = (node, str(variable))
        return places

    def __getitem__(self, name: str) -> xr.DataArray:
        """The variable `name`; where only one fits, `p` will do for `p/1` and `temperature` for
        `observables/temperature`. Raises kwave.FileError."""
        found = self._resolve(name)
        node, variable = self._places[found]
        array = self._nodes.datasets[node][variable].rename(found)
        if "sensor" in array.dims:
            array = nodes.own_coordinates(array)
        return array

    def _resolve(self, name: str) -> str:
        if name in self._places:
            return name
        boxes = [one for one in self._places if one.startswith(f"{name}/") or one.endswith(f"/{name}")]
        if len(boxes) == 1:
            return boxes[0]
        for path, reason in self._nodes.left_out.items():
            if name in (path, path.split("/")[0]):
                raise kwave.FileError(f"{self.path}: {path} is left out: {reason}")
        if boxes:
            raise kwave.FileError(f"{self.path}: {name} was recorded more than once. Fix: {', '.join(boxes)}")
        raise kwave.FileError(
            f"{self.path}: there is no {name}. It holds {', '.join(self.names) or 'nothing complete'}"
        )

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    @property
    def datasets(self) -> dict[str, xr.Dataset]:
        """The variables of every place as one dataset."""
        return dict(self._nodes.datasets)

    @cached_property
    def tree(self) -> xr.DataTree:
        """All variables by place: `domain`, `points`, `box1` ..., and one node per [[output]] table."""
        return xr.DataTree.from_dict({"/": xr.Dataset(attrs=self.attrs), **self._nodes.datasets})

    def unmask(self, what: str | xr.DataArray) -> xr.DataArray:
        """Values at sensor points as a field (z, y, x) on the box around the points, NaN where there is none.

        Of a series, select times first: all values of `what` are read.
        """
        return unmask(self[what] if isinstance(what, str) else what, self.source.grid)

    def input_field(self, name: str) -> xr.DataArray | None:
        """A property of the medium or the initial pressure, by its name in the input file, on all points of
        the grid; None when the input is not there or has none with a value for each point.
        """
        return nodes.input_field(self.source, name)

    @property
    def attrs(self) -> dict:
        """Where the output comes from and how far the run was."""
        found, source = self.source.commit_mark, self.source
        about = {"file": str(self.path), "steps_planned": found.planned, "steps_recorded": found.steps}
        about |= {
            key: source.attributes.get(key) for key in ("file_description", "created_by", "creation_date")
        }
        return {key: value for key, value in about.items() if value not in (None, "")}

    @cached_property
    def plot(self) -> Plots:
        """Pictures: `slice`, `trace` and `animate`; each returns a plotly figure."""
        return Plots(self, self.source.case, self.source.grid)

    def __repr__(self) -> str:
        lines = [f"<tailrace.Run {self.path}>"]
        width = max((len(name) for name in self.names), default=0)
        for name in self.names:
            array = self[name]
            sizes = ", ".join(f"{dim}: {size}" for dim, size in array.sizes.items())
            unit = f" [{array.attrs['units']}]" if array.attrs["units"] else ""
            lines.append(f"  {name:<{width}}  ({sizes})  {array.attrs['long_name']}{unit}")
        lines += [f"  {path}  left out: {reason}" for path, reason in self._nodes.left_out.items()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return self.tree._repr_html_()
