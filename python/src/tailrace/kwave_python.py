# SPDX-License-Identifier: BSD-3-Clause
"""For users of the package k-wave-python: import it anywhere, run its simulations on our program, and get
what the package promises for compiled backends. `docs/howto/k-wave.md` shows how.
"""

import ast
import copy
import hashlib
import importlib.util
import os
import shlex
import sys
import warnings
from pathlib import Path
from types import ModuleType

import numpy as np

from tailrace.console import CommandError
from tailrace.launch import Layout, find_launcher, launch_command, root_permission
from tailrace.programs import launch_info, simulation_program

DIRICHLET = "dirichlet"
TRIED_VERSION = "0.6.2"

LAUNCHER = """\
#!/bin/sh
# Starts tailrace-ultrasound on {ranks} ranks for k-wave-python. Made by tailrace.kwave_python.binary.
# The package asks for threads as for one process (-t); the ranks share them. What it says to OpenMP about
# places would put the threads of all ranks on the same cores.
unset OMP_PLACES OMP_PROC_BIND
threads=$(($(nproc) / {ranks}))
count=$#
while [ "$count" -gt 0 ]; do
  if [ "$1" = -t ] && [ "$count" -gt 1 ]; then
    threads=$(($2 / {ranks}))
    shift 2
    count=$((count - 2))
  else
    set -- "$@" "$1"
    shift
    count=$((count - 1))
  fi
done
[ "$threads" -ge 1 ] || threads=1
export OMP_NUM_THREADS="$threads"
exec {command} "$@" -t "$threads"
"""


def import_kwave() -> ModuleType:
    """Imports k-wave-python without its download of binaries, and where no OpenGL library is installed.

    The package fetches its own binaries whenever it is imported without them, and fails without a network.
    Call this before the first import of it; `import kwave` and imports of its parts then work as ever.
    Nothing is written anywhere. A package that is imported already is left as it is.
    """
    if "kwave" in sys.modules:
        return sys.modules["kwave"]
    spec = importlib.util.find_spec("kwave")
    if spec is None or spec.origin is None:
        raise CommandError("k-wave-python is not installed. Install it with: pip install k-wave-python")
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"), spec.origin)
    tree.body = [statement for statement in tree.body if not _starts_download(statement)]
    _stand_in_for_opencv()
    module = importlib.util.module_from_spec(spec)
    sys.modules["kwave"] = module
    try:
        exec(compile(tree, spec.origin, "exec"), module.__dict__)
    except BaseException:
        del sys.modules["kwave"]
        raise
    return module


def _starts_download(statement: ast.stmt) -> bool:
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "install_binaries"
        for node in ast.walk(statement)
        if not isinstance(statement, ast.FunctionDef)
    )


def _stand_in_for_opencv() -> None:
    """The package imports OpenCV to load pictures; OpenCV wants libraries that bare machines do not have."""
    try:
        import cv2  # noqa: F401
    except ImportError as error:
        sys.modules["cv2"] = ModuleType("cv2", f"OpenCV cannot be imported here: {error}")


def binary(ranks: int = 1) -> Path:
    """What to give the package as `binary_path`: our program, or a script that starts it on several ranks.

    The script lies in the user's cache directory. Threads that the package asks for (`num_threads`, else all
    cores) are shared by the ranks.
    """
    program = simulation_program("ultrasound", "kwave_python.binary")
    if ranks == 1:
        return program
    if ranks < 1:
        raise CommandError(f"binary(ranks={ranks}): at least 1 is wanted.")
    launcher = find_launcher(launch_info(program), None, ranks)
    command = launch_command(launcher, Layout(ranks, threads=1, bind="none"), [str(program)])
    command = ["env", *(f"{name}={value}" for name, value in root_permission().items()), *command]
    return _script(f"ultrasound-{ranks}-ranks", LAUNCHER.format(ranks=ranks, command=shlex.join(command)))


def _script(name: str, text: str) -> Path:
    """An executable file in the cache directory; its name says what is in it, so it is never changed."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tailrace"
    path = cache / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    if not path.exists():
        try:
            cache.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_suffix(f".{os.getpid()}")
            unfinished.write_text(text)
            unfinished.chmod(0o755)
            unfinished.replace(path)
        except OSError as error:
            raise CommandError(
                f"{path}: cannot be written: {error.strerror}. Set XDG_CACHE_HOME to a directory of yours."
            ) from error
    return path


def scaled_source(source, kgrid, medium):
    """A copy of a source for `kspaceFirstOrder(..., backend="cpp")`, which writes signals as they are, while
    every k-Wave binary wants them scaled; the result is then that of `backend="python"`.

    Signals of many points are expected as that backend takes them, one row for each point in the order of
    `mask.ravel()`. For an additive pressure source the spacing along x counts, as in k-Wave's other front
    ends.
    """
    _warn_if_untried()
    result = copy.copy(source)
    dimensions, dt = kgrid.dim, float(kgrid.dt)
    spacing = [float(d) for d in np.atleast_1d(kgrid.spacing)]
    if source.p is not None:
        c = _sound_speed(medium, source.p_mask)
        factor = 1 / c**2 if source.p_mode == DIRICHLET else 2 * dt / (c * spacing[0])
        result.p = _signals(source.p, factor / dimensions, source.p_mask)
    for axis, d in zip("xyz"[:dimensions], spacing, strict=False):
        signal = getattr(source, f"u{axis}")
        if signal is not None:
            c = _sound_speed(medium, source.u_mask)
            factor = np.ones_like(c) if source.u_mode == DIRICHLET else 2 * c * dt / d
            setattr(result, f"u{axis}", _signals(signal, factor, source.u_mask))
    return result


def _warn_if_untried() -> None:
    """The two corrections fit one version of the package; a later one may need none."""
    version = getattr(sys.modules.get("kwave"), "__version__", TRIED_VERSION)
    if version != TRIED_VERSION:
        warnings.warn(
            f"tailrace corrects sources and results of k-wave-python {TRIED_VERSION}, and this is {version}: "
            'compare a small case with backend="python" first',
            stacklevel=3,
        )


def _sound_speed(medium, mask) -> np.ndarray:
    """At the points of a mask, x fastest; one value when it is the same everywhere."""
    c = np.asarray(medium.sound_speed, dtype=float)
    if c.size == 1:
        return c.reshape(1)
    return c.ravel(order="F")[np.asarray(mask, dtype=bool).ravel(order="F")]


def _signals(signal, factor: np.ndarray, mask) -> np.ndarray:
    """One scaled row, or one for each point of a mask with x fastest."""
    rows = np.atleast_2d(np.asarray(signal, dtype=float))
    if len(rows) > 1:
        rows = rows[np.argsort(_file_order(mask))]
    return factor[:, np.newaxis] * rows


def _file_order(mask) -> np.ndarray:
    """For each point of a mask in the order of `mask.ravel()`: its place where x is fastest."""
    mask = np.asarray(mask, dtype=bool)
    places = np.cumsum(mask.ravel(order="F")).reshape(mask.shape, order="F") - 1
    return places[mask]


def sensor_data(result: dict, mask) -> dict:
    """The result of `kspaceFirstOrder(..., backend="cpp")` as documented: pressure as (point, time), points
    in the order of `mask.ravel()`. The package returns (time, point), x fastest.

    `mask` is the sensor mask, of the grid's shape. Everything else in the result stays as it is.
    """
    _warn_if_untried()
    order, steps = _file_order(mask), int(result["Nt"])
    series = np.reshape(result["p"], (steps, len(order)))
    if steps == len(order):
        # The package takes the steps for the points and sorts them.
        unsorted = np.empty_like(series)
        unsorted[order] = series
        series = unsorted
    elif steps == 1:
        return result | {"p": series.T}
    return result | {"p": series.T[order]}
