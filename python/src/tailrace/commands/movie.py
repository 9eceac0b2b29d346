# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace movie`."""

from pathlib import Path
from typing import Annotated

import typer

from tailrace.commands.options import finite


def register(app: typer.Typer) -> None:
    app.command("movie")(movie)


Place = Annotated[
    float | None,
    typer.Option(callback=finite, help="Where the plane is, in metres (default: the peak's)."),
]


def movie(
    run: Annotated[
        Path, typer.Argument(metavar="DIR|FILE", help="Run directory or output file.", show_default=False)
    ],
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A series, such as p/1 or positions.", show_default=False)
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="The movie: a .gif or .mp4 file.")],
    x: Place = None,
    y: Place = None,
    z: Place = None,
    frames: Annotated[int, typer.Option(min=2, help="At most so many samples, evenly spread.")] = 60,
    fps: Annotated[int, typer.Option(min=1, max=60, help="Frames per second.")] = 12,
) -> None:
    """A movie of a series: a plane of a field, or positions of molecules. Needs Pillow; MP4 needs ffmpeg."""
    import tailrace
    from tailrace.movie import write_movie

    count = write_movie(tailrace.open(run), name, output, frames, fps, x=x, y=y, z=z)
    typer.echo(f"{output}: {count} frames")
