# SPDX-License-Identifier: BSD-3-Clause
"""Movies as GIF (by Pillow) or MP4 (by ffmpeg) of a series on a plane, or of positions of molecules."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import plotly.colors
import xarray as xr

from tailrace.console import CommandError
from tailrace.data import cuts
from tailrace.data.plots import on_grid, require_field
from tailrace.data.run import Run
from tailrace.figures import theme

WIDTH = 640  # pixels, about
CAPTION = 24  # pixels below the picture
COLOURS = 256
AXES = "xyz"


def write_movie(
    run: Run, name: str, path: Path, frames: int = 60, fps: int = 12, **at_m: float | None
) -> int:
    """Writes evenly spread samples of a variable; returns how many. Raises CommandError where a library or
    program that is needed is not there, FileError for a variable of which there is no movie.
    """
    array = run[name]
    if "time" not in array.dims or array.sizes["time"] < 2:
        raise CommandError(f"{name}: it is no series of complete samples. Name another variable.")
    chosen = np.unique(np.linspace(0, array.sizes["time"] - 1, max(2, frames)).astype(int))
    draw = _positions if _holds_positions(array) else _planes
    pictures = draw(run, array, chosen, at_m)
    _encoder(path)(path, pictures, fps)
    return len(chosen)


def _holds_positions(array: xr.DataArray) -> bool:
    return array.attrs.get("quantity") == "position" and array.sizes.get(str(array.dims[-1])) == 3


# Pictures


def _planes(
    run: Run, array: xr.DataArray, chosen: np.ndarray, at_m: dict[str, float | None]
) -> Iterator[np.ndarray]:
    """A plane of every chosen sample in the colours of the report, one scale for all."""
    grid = run.source.grid
    require_field(array, grid)
    first = on_grid(array.isel(time=0), grid)
    normals = cuts.normals(first, at_m, (0, 0, 0)) if len(cuts.space_dims(first)) == 3 else {}
    normal, index = next(iter(normals.items()), (None, 0))
    samples = (on_grid(array.isel(time=int(one)), grid) for one in chosen)
    planes = [cuts.plane(sample, normal, index, WIDTH).values for sample in samples]
    signed = cuts.is_signed(array)
    peak = max(float(np.nanmax(np.abs(plane), initial=0.0)) for plane in planes) or 1.0
    table = colour_table(theme.DIVERGING if signed else theme.SEQUENTIAL)
    for number, plane in zip(chosen, planes, strict=True):
        share = (plane / peak + 1) / 2 if signed else plane / peak
        coloured = table[(np.nan_to_num(share).clip(0, 1) * (COLOURS - 1)).astype(int)]
        yield _captioned(_enlarged(coloured[::-1]), array, int(number))


def _positions(run: Run, array: xr.DataArray, chosen: np.ndarray, _at_m: dict) -> Iterator[np.ndarray]:
    """Molecules seen along y: x to the right, z upwards, the nearer ones lighter."""
    samples = [np.asarray(array.isel(time=int(number)).values, dtype=float) for number in chosen]
    low, high = (fold([fold([one.min(0), one.max(0)]) for one in samples]) for fold in (_least, _largest))
    size = np.maximum(high - low, 1e-12)
    height = max(64, int(WIDTH * size[2] / size[0]))
    for number, places in zip(chosen, samples, strict=True):
        order = np.argsort(-places[:, 1])
        share = ((places - low) / size)[order].clip(0, 1)
        picture = np.full((height, WIDTH, 3), 16, np.uint8)
        column = (2 + share[:, 0] * (WIDTH - 5)).astype(int)
        row = (2 + (1 - share[:, 2]) * (height - 5)).astype(int)
        light = (90 + 165 * (1 - share[:, 1])).astype(np.uint8)
        for across in (-1, 0, 1):
            for down in (-1, 0, 1):
                picture[row + down, column + across] = np.stack([light // 3, light // 4 * 3, light], axis=1)
        yield _captioned(picture, array, int(number))


def _least(arrays: list[np.ndarray]) -> np.ndarray:
    return np.min(arrays, axis=0)


def _largest(arrays: list[np.ndarray]) -> np.ndarray:
    return np.max(arrays, axis=0)


def colour_table(scale: str | list) -> np.ndarray:
    """The colours of a scale of plotly as bytes."""
    shades = plotly.colors.sample_colorscale(scale, np.linspace(0, 1, COLOURS).tolist(), colortype="tuple")
    return np.rint(255 * np.array(shades)).astype(np.uint8)


def _enlarged(picture: np.ndarray) -> np.ndarray:
    factor = max(1, WIDTH // picture.shape[1])
    return picture.repeat(factor, axis=0).repeat(factor, axis=1)


def _captioned(picture: np.ndarray, array: xr.DataArray, number: int) -> np.ndarray:
    """With the time below; height and width even, as encoders want them."""
    from PIL import Image, ImageDraw

    height, width = (extent + extent % 2 for extent in picture.shape[:2])
    sheet = Image.new("RGB", (width, height + CAPTION), "white")
    sheet.paste(Image.fromarray(picture), (0, 0))
    time = f"t = {cuts.time_text(array, number)}" if "time" in array.coords else f"sample {number}"
    ImageDraw.Draw(sheet).text((8, height + 6), f"{array.name}, {time}", fill="black")
    return np.asarray(sheet)


# Files


def _encoder(path: Path) -> Callable[[Path, Iterator[np.ndarray], int], None]:
    if path.suffix not in (".gif", ".mp4"):
        raise CommandError(f"{path}: a movie is a .gif or a .mp4 file. Name it so.")
    try:
        import PIL  # noqa: F401
    except ImportError:
        raise CommandError("movies need Pillow. Install it: pip install pillow") from None
    if path.suffix == ".mp4" and shutil.which("ffmpeg") is None:
        raise CommandError(f"{path}: MP4 needs ffmpeg, which is not there. Install it, or write a .gif.")
    return _write_gif if path.suffix == ".gif" else _write_mp4


def _write_gif(path: Path, pictures: Iterator[np.ndarray], fps: int) -> None:
    from PIL import Image

    first, *others = (Image.fromarray(picture) for picture in pictures)
    first.save(path, save_all=True, append_images=others, duration=round(1000 / fps), loop=0)


def _write_mp4(path: Path, pictures: Iterator[np.ndarray], fps: int) -> None:
    first = next(pictures)
    size = f"{first.shape[1]}x{first.shape[0]}"
    source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", size, "-r", str(fps), "-i", "-"]
    command = ["ffmpeg", "-y", "-loglevel", "error", *source, "-pix_fmt", "yuv420p", str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stderr is not None
        for picture in (first, *pictures):
            process.stdin.write(picture.tobytes())
        process.stdin.close()
        said = process.stderr.read().decode(errors="replace").strip()
    if process.returncode:
        raise CommandError(f"{path}: ffmpeg could not write it: {said}")
