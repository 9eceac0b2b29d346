"""Sampled fields as volumes: slices, peaks, profiles and series, read in pieces that fit into memory."""

import math
from dataclasses import dataclass

import h5py
import numpy as np

from tailrace import kwave
from tailrace.compare import pieces
from tailrace.report.load import Case

PICTURE_POINTS = 480  # more points along an axis than a picture has pixels are not worth reading
SEARCH_VALUES = 64_000_000  # a search for the maximum reads at most about this many values
AXES = "xyz"


@dataclass
class Box:
    """Where a sensor box lies: first and last grid index per axis x, y, z, counted from 0, inclusive."""

    low: tuple[int, int, int]
    high: tuple[int, int, int]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Extent in the order of the arrays (z, y, x)."""
        return tuple(self.high[axis] - self.low[axis] + 1 for axis in (2, 1, 0))


@dataclass
class Volume:
    """A dataset of shape (z, y, x) whose first point has the grid index `low` (x, y, z); None when not
    known.
    """

    dataset: h5py.Dataset
    case: Case
    low: tuple[int, int, int] | None

    @property
    def name(self) -> str:
        return self.dataset.name.strip("/")

    @property
    def meaning(self) -> kwave.Meaning:
        return kwave.meaning(self.name)

    def coordinates_mm(self, axis: int, index):
        """Position of an index inside the volume along x, y or z (0, 1, 2); from its corner when it is not
        located.
        """
        if self.low is None:
            return index * self.case.spacing_m[axis] * 1e3
        return self.case.position_mm(axis, index + self.low[axis])

    def extent(self, axis: int) -> int:
        return self.dataset.shape[2 - axis]


@dataclass
class Peak:
    """The largest magnitude in a volume, at index (x, y, z) inside it."""

    index: tuple[int, int, int]
    value: float


@dataclass
class Plane:
    """A cut through a volume: `values` has rows along `axes[1]` and columns along `axes[0]`."""

    values: np.ndarray
    axes: tuple[int, int]
    along_mm: np.ndarray
    up_mm: np.ndarray
    normal: int
    at_mm: float


def find_peak(volume: Volume, margin: tuple[int, int, int] = (0, 0, 0), signed: bool = False) -> Peak | None:
    """The largest value (magnitude when `signed`), not closer to the border than `margin` (x, y, z).

    Volumes above SEARCH_VALUES are searched with a stride.
    """
    stride = max(1, math.ceil((volume.dataset.size / SEARCH_VALUES) ** (1 / 3)))
    best, value = None, -math.inf
    for first, plane_values in _planes(volume.dataset, stride, margin):
        magnitude = np.abs(plane_values) if signed else plane_values
        usable = np.where(np.isfinite(magnitude), magnitude, -math.inf)
        if usable.size and usable.max() > value:
            y, x = np.unravel_index(int(usable.argmax()), usable.shape)
            value = float(usable[y, x])
            best = (int(x) * stride + margin[0], int(y) * stride + margin[1], first)
    return None if best is None else Peak(best, value)


def _planes(dataset: h5py.Dataset, stride: int, margin: tuple[int, int, int]):
    nz, ny, nx = dataset.shape
    inner = (slice(margin[1], max(margin[1] + 1, ny - margin[1]), stride),)
    inner += (slice(margin[0], max(margin[0] + 1, nx - margin[0]), stride),)
    for z in range(margin[2], max(margin[2] + 1, nz - margin[2]), stride):
        yield z, dataset[(z, *inner)]


def cut(volume: Volume, normal: int, index: tuple[int, int, int]) -> Plane:
    """The plane through `index` (x, y, z) with the given normal; x or y runs to the right, y or z upwards."""
    across, up = [axis for axis in range(3) if axis != normal]
    strides = [max(1, math.ceil(volume.extent(axis) / PICTURE_POINTS)) for axis in range(3)]
    selection = [slice(None, None, strides[axis]) for axis in range(3)]
    selection[normal] = index[normal]
    values = np.asarray(volume.dataset[tuple(selection[axis] for axis in (2, 1, 0))], dtype=np.float32)
    return Plane(
        values=values,
        axes=(across, up),
        along_mm=volume.coordinates_mm(across, np.arange(0, volume.extent(across), strides[across])),
        up_mm=volume.coordinates_mm(up, np.arange(0, volume.extent(up), strides[up])),
        normal=normal,
        at_mm=float(volume.coordinates_mm(normal, index[normal])),
    )


def planes_through(volume: Volume, index: tuple[int, int, int]) -> list[Plane]:
    """The cuts with normals z, y and x through a point, those along the longest side first.

    Flat ones (of a box one point thick) are left out.
    """
    planes = [cut(volume, normal, index) for normal in (2, 1, 0)]
    lengths = [volume.extent(axis) * volume.case.spacing_m[axis] for axis in range(3)]
    longest = lengths.index(max(lengths))
    planes.sort(key=lambda plane: longest not in plane.axes)
    return [plane for plane in planes if min(plane.values.shape) > 1]


def profile(volume: Volume, axis: int, index: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Position in mm and values along one axis through `index` (x, y, z)."""
    selection: list = list(index)
    selection[axis] = slice(None)
    values = volume.dataset[tuple(selection[number] for number in (2, 1, 0))]
    return volume.coordinates_mm(axis, np.arange(volume.extent(axis))), np.asarray(values, dtype=np.float64)


def width_at_half(position: np.ndarray, values: np.ndarray, centre: int) -> float | None:
    """Full width where the profile falls to half (-6 dB) of its value at `centre`; None when it does not on
    a side.
    """
    half = values[centre] / 2
    edges = []
    for step in (-1, 1):
        inner = centre
        while 0 <= inner + step < len(values) and values[inner + step] > half:
            inner += step
        outer = inner + step
        if not 0 <= outer < len(values):
            return None
        share = (values[inner] - half) / (values[inner] - values[outer])
        edges.append(position[inner] + share * (position[outer] - position[inner]))
    return abs(edges[1] - edges[0])


def maximum_over_time(
    dataset: h5py.Dataset, samples: int, limit_bytes: int = 512_000_000
) -> np.ndarray | None:
    """The maximum of a series (t, z, y, x) over its first samples; None when that means reading too much."""
    step_bytes = math.prod(dataset.shape[1:]) * dataset.dtype.itemsize
    if samples < 1 or samples * step_bytes > limit_bytes:
        return None
    result = np.full(dataset.shape[1:], -np.inf, dtype=np.float32)
    for _, selection in pieces(dataset, samples):
        part = result[selection[1:]]
        np.maximum(part, dataset[selection].max(axis=0), out=part)
    return result
