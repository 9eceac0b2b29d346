# SPDX-License-Identifier: BSD-3-Clause
"""The same arrays for `xarray.open_dataset(path, engine="tailrace", group="domain")` and `open_datatree`."""

from pathlib import Path

import xarray as xr
from xarray.backends import BackendEntrypoint

from tailrace import kwave
from tailrace.data.run import Run


class TailraceEntrypoint(BackendEntrypoint):
    """xarray's engine `tailrace`; `input`, `pml` and `incomplete` are those of `tailrace.open`."""

    description = "Outputs of Tailrace and of k-Wave's binaries"
    open_dataset_parameters = ("filename_or_obj", "drop_variables", "group", "input", "pml", "incomplete")
    supports_groups = True

    def open_dataset(
        self, filename_or_obj, *, drop_variables=None, group=None, input=None, pml=True, incomplete=False
    ) -> xr.Dataset:
        """One place of the output: `group` may be left out when there is only one."""
        groups = self.open_groups_as_dict(
            filename_or_obj, drop_variables=drop_variables, input=input, pml=pml, incomplete=incomplete
        )
        names = [name.strip("/") for name in groups if name != "/"]
        chosen = names[0] if group is None and len(names) == 1 else str(group or "").strip("/")
        if chosen not in names:
            raise kwave.FileError(f"{filename_or_obj}: group={group!r} must be one of {', '.join(names)}")
        return groups[f"/{chosen}"]

    def open_groups_as_dict(
        self, filename_or_obj, *, drop_variables=None, input=None, pml=True, incomplete=False
    ) -> dict[str, xr.Dataset]:
        """All places of the output."""
        run = Run(Path(filename_or_obj), input, pml, incomplete).require_data()
        dropped = [drop_variables] if isinstance(drop_variables, str) else list(drop_variables or [])
        groups = {"/": xr.Dataset(attrs=run.attrs)}
        for name, dataset in run.datasets.items():
            groups[f"/{name}"] = dataset.drop_vars(dropped, errors="ignore")
        return groups

    def open_datatree(self, filename_or_obj, *, drop_variables=None, **options) -> xr.DataTree:
        """The whole output as a tree."""
        return xr.DataTree.from_dict(
            self.open_groups_as_dict(filename_or_obj, drop_variables=drop_variables, **options)
        )

    def guess_can_open(self, filename_or_obj) -> bool:
        """Whether the file says that it is a k-Wave output."""
        try:
            with kwave.open_file(Path(filename_or_obj)) as file:
                return kwave.text(file.attrs.get("file_type", "")) == "output"
        except (kwave.FileError, TypeError):
            return False
