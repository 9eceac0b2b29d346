"""Where the sensors are, and which of their pressure series the report shows."""

from dataclasses import dataclass

import h5py
import numpy as np

from tailrace import kwave, record
from tailrace.compare import pieces
from tailrace.report.load import Case
from tailrace.report.volumes import Box, Volume, find_peak

SEARCH_BYTES = 256_000_000  # a search for the loudest sensor reads at most about this much of a series


@dataclass
class Mask:
    """The sensor mask: boxes, or points as grid indices (x, y, z) in file order; both None when it is not
    known.
    """

    boxes: list[Box] | None = None
    points: np.ndarray | None = None


@dataclass
class Series:
    """One pressure series: `time_s` and `values`, and where it was taken (None when that is not known)."""

    label: str
    time_s: np.ndarray
    values: np.ndarray
    position: tuple[int, int, int] | None


def read_mask(files: list[h5py.File], case: Case) -> Mask:
    """The mask from the first of the files (output with --copy_sensor_mask, input) that holds one."""
    for file in files:
        if "sensor_mask_corners" in file:
            corners = file["sensor_mask_corners"][()].reshape(-1, 6).astype(int) - 1
            return Mask(boxes=[Box(tuple(row[:3].tolist()), tuple(row[3:].tolist())) for row in corners])
        if "sensor_mask_index" in file:
            linear = file["sensor_mask_index"][()].reshape(-1).astype(np.int64) - 1
            z, y, x = np.unravel_index(linear, case.sizes[::-1])
            return Mask(points=np.stack([x, y, z], axis=1))
    return Mask()


def box_volumes(file: h5py.File, name: str, case: Case, mask: Mask) -> list[Volume]:
    """The datasets of a reduced stream in boxes, `p_max/1` and so on, in file order."""
    group = file.get(name)
    if not isinstance(group, h5py.Group):
        return []
    found = [item for item in kwave.datasets(group) if item.ndim == 3 and item.name.split("/")[-1].isdigit()]
    return [Volume(item, case, _low_corner(item, mask)) for item in found]


def _low_corner(dataset: h5py.Dataset, mask: Mask) -> tuple[int, int, int] | None:
    number = int(dataset.name.split("/")[-1]) - 1
    if mask.boxes is None or number >= len(mask.boxes):
        return None
    box = mask.boxes[number]
    return box.low if dataset.shape[-3:] == box.shape else None


def collect_series(file: h5py.File, case: Case, mask: Mask, name: str = "p") -> list[Series]:
    """A few telling series of a stream: the loudest point of every box and the middles, or some of the
    points.
    """
    stream = file.get(name)
    if isinstance(stream, h5py.Group):
        found = [item for item in kwave.datasets(stream) if item.ndim == 4]
        return [series for item in found[:3] for series in _box_series(file, item, case, mask, name)][:5]
    if isinstance(stream, h5py.Dataset) and stream.ndim == 3:
        return _point_series(stream, case, mask)
    return []


def _complete(dataset: h5py.Dataset, case: Case) -> int:
    """Samples to read: the complete ones; all where the file does not say."""
    stored = dataset.shape[kwave.time_axis(dataset)]
    count = record.complete_samples(dataset, case.record)
    return stored if count is None else count


def _times(dataset: h5py.Dataset, case: Case, samples: int) -> np.ndarray:
    """k-Wave's time axis: the first time step is t = 0; a series that starts late ends with the last step."""
    first = case.steps - dataset.shape[kwave.time_axis(dataset)]
    return (first + np.arange(samples)) * case.dt_s


def _box_series(file, dataset, case, mask, name) -> list[Series]:
    samples = _complete(dataset, case)
    if samples < 2:
        return []
    number = dataset.name.split("/")[-1]
    low = _low_corner(dataset, mask)
    nz, ny, nx = dataset.shape[1:]
    spots = {"loudest point": _loudest_in_box(file, dataset, case, name, number, samples)}
    spots["middle"] = (nx // 2, ny // 2, nz // 2)
    result, seen = [], set()
    for label, (x, y, z) in spots.items():
        if (x, y, z) in seen:
            continue
        seen.add((x, y, z))
        values = np.asarray(dataset[:samples, z, y, x], dtype=np.float64)
        position = None if low is None else (x + low[0], y + low[1], z + low[2])
        result.append(Series(f"box {number}, {label}", _times(dataset, case, samples), values, position))
    return result


def _loudest_in_box(file, dataset, case, name, number, samples) -> tuple[int, int, int]:
    """From the recorded maximum where the run wrote it, else from some of the samples."""
    maximum = file.get(f"{name}_max/{number}")
    if isinstance(maximum, h5py.Dataset) and case.record.closed and maximum.shape == dataset.shape[1:]:
        peak = find_peak(Volume(maximum, case, None))
        if peak is not None:
            return peak.index
    step_bytes = max(1, dataset.dtype.itemsize * int(np.prod(dataset.shape[1:])))
    wanted = max(1, min(samples, SEARCH_BYTES // step_bytes))
    loudest = np.zeros(dataset.shape[1:], dtype=np.float32)
    for sample in np.unique(np.linspace(0, samples - 1, wanted).astype(int)):
        np.maximum(loudest, np.abs(dataset[int(sample)]), out=loudest)
    z, y, x = np.unravel_index(int(loudest.argmax()), loudest.shape)
    return int(x), int(y), int(z)


def _point_series(dataset: h5py.Dataset, case: Case, mask: Mask) -> list[Series]:
    samples, count = _complete(dataset, case), dataset.shape[2]
    if samples < 2 or count < 1:
        return []
    by_loudness = np.argsort(-_loudness(dataset, samples), kind="stable")
    chosen = list(dict.fromkeys(int(by_loudness[rank]) for rank in (0, count // 20, count // 5, count // 2)))
    times = _times(dataset, case, samples)
    result = []
    for point in chosen:
        label = f"point {point + 1}" + (", loudest" if point == chosen[0] else "")
        known = mask.points is not None and point < len(mask.points)
        position = tuple(mask.points[point].tolist()) if known else None
        result.append(
            Series(label, times, np.asarray(dataset[0, :samples, point], dtype=np.float64), position)
        )
    return result


def _loudness(dataset: h5py.Dataset, samples: int) -> np.ndarray:
    """The largest magnitude at every point; only every n-th sample is read where all would be too much."""
    row_bytes = dataset.shape[2] * dataset.dtype.itemsize
    stride = max(1, samples * row_bytes // SEARCH_BYTES)
    loudest = np.zeros(dataset.shape[2], dtype=np.float32)
    if stride == 1:
        for _, selection in pieces(dataset, samples):
            np.maximum(loudest, np.abs(dataset[selection]).max(axis=(0, 1)), out=loudest)
    else:
        for sample in range(0, samples, stride):
            np.maximum(loudest, np.abs(dataset[0, sample]), out=loudest)
    return loudest
