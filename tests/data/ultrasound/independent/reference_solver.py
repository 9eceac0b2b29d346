# SPDX-License-Identifier: BSD-3-Clause
"""The NumPy solver of k-wave-python, run on the numbers of a k-Wave input file and sampled outside.

Arrays of a file are (z, y, x), those of the package (x, y, z) or, in 2D, (x, y).
"""

from types import SimpleNamespace

import numpy as np
from kwave.solvers.kspace_solver import Simulation, _build_source_op, acoustic_intensity

MODES = ("dirichlet", "additive-no-correction", "additive")
WHAT = ("raw", "rms", "max", "min", "max_all", "min_all", "final")
FLAGS = [*(f"{stem}_{what}" for stem in "pu" for what in WHAT), "u_non_staggered_raw"]
INTENSITY = ("I_avg", "Q_term")
REDUCTIONS = {"max": np.maximum.reduce, "min": np.minimum.reduce}


def scalar(datasets: dict, name: str, default=0):
    return datasets[name].reshape(-1)[0].item() if name in datasets else default


def axes_of(datasets: dict) -> str:
    return "xyz" if scalar(datasets, "Nz") > 1 else "xy"


class FileSimulation(Simulation):
    """One simulation. From the package come grid, absorbing layer, operators, absorption, non-linearity, time
    stepping and the three ways to inject a source. From here come the staggered densities and `c_ref` of the
    file, source values as the file has them (a solver does not scale) and the transducer source.
    """

    def __init__(self, datasets: dict, dtype=np.float64):
        self.datasets, self.axes = datasets, axes_of(datasets)
        names = ["Nt", "dt", *(f"{what}{axis}" for axis in self.axes for what in "Nd")]
        medium = SimpleNamespace(
            sound_speed=self.field("c0"), density=self.field("rho0"), alpha_coeff=0, alpha_power=1.5, BonA=0
        )
        if scalar(datasets, "nonlinear_flag"):
            medium.BonA = self.field("BonA")
        if scalar(datasets, "absorbing_flag"):
            medium.alpha_coeff = self.field("alpha_coeff")
            medium.alpha_power = scalar(datasets, "alpha_power")
        super().__init__(
            SimpleNamespace(**{name: scalar(datasets, name) for name in names}),
            medium,
            SimpleNamespace(p0=self.field("p0_source_input") if scalar(datasets, "p0_source_flag") else 0),
            SimpleNamespace(mask=None, record=("p_final",)),
            smooth_p0=False,
            pml_size=[scalar(datasets, f"pml_{axis}_size") for axis in self.axes],
            pml_alpha=[scalar(datasets, f"pml_{axis}_alpha") for axis in self.axes],
            dtype=dtype,
        )
        self.setup()

    def field(self, name: str) -> np.ndarray:
        values = self.datasets[name].astype(np.float64).T
        if values.size == 1:
            return values.reshape(1)
        return values if len(self.axes) == 3 else values[..., 0]

    def _setup_pml(self):
        self.c_ref = scalar(self.datasets, "c_ref")
        super()._setup_pml()

    def _setup_fields(self):
        super()._setup_fields()
        densities = [self.field(f"rho0_sg{axis}").astype(self._dtype) for axis in self.axes]
        self.dt_over_rho0 = [self._dtype(self.dt) / density for density in densities]

    def points(self, name: str) -> np.ndarray:
        """A list of linear indices of the file as positions in a flat array of the package."""
        index = self.datasets[name].reshape(-1).astype(np.int64) - 1
        where = np.unravel_index(index, self.datasets_shape())[::-1]
        return np.ravel_multi_index(where[: len(self.axes)], self.grid_shape)

    def datasets_shape(self) -> tuple[int, ...]:
        return tuple(scalar(self.datasets, f"N{axis}") for axis in "zyx")

    def _setup_source_operators(self):
        count = len(self.axes)
        self._source_p_ops = [lambda t, field: field] * count
        self._source_u_ops = [lambda t, field: field] * count
        if scalar(self.datasets, "p_source_flag"):
            self._source_p_ops = [self.source_operator("p", "p")] * count
        for i, axis in enumerate(self.axes):
            if scalar(self.datasets, f"u{axis}_source_flag"):
                self._source_u_ops[i] = self.source_operator("u", f"u{axis}")
        if scalar(self.datasets, "transducer_source_flag"):
            self._source_u_ops[0] = self.transducer_operator()

    def source_operator(self, kind: str, quantity: str):
        """The package's own injection, of the values of the file."""
        points = self.points(f"{kind}_source_index")
        steps = scalar(self.datasets, f"{quantity}_source_flag")
        mask = np.zeros(self.grid_shape, dtype=bool)
        mask.reshape(-1)[points] = True
        signals = self.datasets[f"{quantity}_source_input"].astype(np.float64).reshape(steps, -1).T
        if scalar(self.datasets, f"{kind}_source_many"):
            signals = signals[np.argsort(points)]
        return _build_source_op(
            mask,
            signals,
            MODES[scalar(self.datasets, f"{kind}_source_mode")],
            1.0,
            xp=np,
            grid_shape=self.grid_shape,
            grid_size=mask.size,
            source_kappa=self.source_kappa,
            diff_fn=self._diff,
            dtype=self._dtype,
        )

    def transducer_operator(self):
        """Not in the package: one signal, delayed for each point, added without correction."""
        points = self.points("u_source_index")
        delays = self.datasets["delay_mask"].reshape(-1).astype(np.int64) - 1
        signal = self.datasets["transducer_source_input"].reshape(-1).astype(self._dtype)
        steps = scalar(self.datasets, "transducer_source_flag")

        def add(t, field):
            if t < steps:
                field = field.copy()
                field.reshape(-1)[points] += signal[delays + t]
            return field

        return add

    def quantities(self, non_staggered: bool) -> dict[str, np.ndarray]:
        """The fields after a step, in the layout of a file."""
        named = {"p": self.p} | {f"u{axis}": self.u[i] for i, axis in enumerate(self.axes)}
        if non_staggered:
            for i, axis in enumerate(self.axes):
                shifted = np.fft.ifftn(self.unstagger_ops[i] * np.fft.fftn(self.u[i])).real
                named[f"u{axis}_non_staggered"] = shifted.astype(self._dtype)
        return {name: field.T.reshape(self.datasets_shape()) for name, field in named.items()}


class Mask:
    """Sensor points or boxes of a file: what of a field they take, and the shape that outputs have."""

    def __init__(self, datasets: dict):
        self.boxes = None
        if scalar(datasets, "sensor_mask_type"):
            corners = datasets["sensor_mask_corners"].reshape(-1, 6).astype(np.int64)
            self.boxes = [tuple(slice(c[i] - 1, c[i + 3]) for i in (2, 1, 0)) for c in corners]
        else:
            self.index = datasets["sensor_mask_index"].reshape(-1).astype(np.int64) - 1

    def parts(self, name: str, fields: np.ndarray) -> dict[str, np.ndarray]:
        """The sensors' part of a series (t, z, y, x), by dataset path."""
        if self.boxes is None:
            return {name: fields.reshape(len(fields), -1)[:, self.index][np.newaxis]}
        return {f"{name}/{i + 1}": fields[(slice(None), *box)] for i, box in enumerate(self.boxes)}

    def reduced(self, values: np.ndarray) -> np.ndarray:
        """One value per sensor, from one per sensor and step, in the shape that it has in a file."""
        return values[np.newaxis] if self.boxes is None else values

    def time_axis(self) -> int:
        return 1 if self.boxes is None else 0

    def onto_grid(self, parts: dict[str, np.ndarray], name: str, shape: tuple) -> np.ndarray:
        grid = np.zeros(shape)
        if self.boxes is None:
            grid.reshape(-1)[self.index] = parts[name].reshape(-1)
        for i, box in enumerate(self.boxes or []):
            grid[box] = parts[f"{name}/{i + 1}"]
        return grid


def record(datasets: dict, arguments: list[str], dtype=np.float64) -> dict[str, np.ndarray]:
    """Runs the file and returns what the command-line arguments ask for, named and shaped as in an output."""
    flags = {word.removeprefix("--") for word in arguments if word.startswith("--")} or {"p_raw"}
    start = int(arguments[arguments.index("-s") + 1]) if "-s" in arguments else 1
    simulation = FileSimulation(datasets, dtype)
    unknown = flags - {*FLAGS, *INTENSITY, "copy_sensor_mask"}
    assert not unknown, unknown
    series = sample(simulation, start, bool(flags & {"u_non_staggered_raw", *INTENSITY}))
    mask = Mask(datasets)
    results = {}
    for flag in sorted(flags & set(FLAGS)):
        for name in components(flag, simulation.axes):
            results |= recorded(name, flag.partition("_")[2], series, mask)
    if flags & set(INTENSITY):
        results |= intensity(simulation, series, mask, flags)
    return results


def sample(simulation: FileSimulation, start: int, non_staggered: bool) -> dict[str, np.ndarray]:
    """All steps from `start`, counted from 1, of every quantity: (t, z, y, x)."""
    steps = []
    for step in range(1, simulation.Nt + 1):
        simulation.step()
        if step >= start:
            steps.append(simulation.quantities(non_staggered))
    return {name: np.stack([fields[name] for fields in steps]) for name in steps[0]}


def components(flag: str, axes: str) -> list[str]:
    if flag.startswith("p"):
        return ["p"]
    return [f"u{axis}{'_non_staggered' if 'non_staggered' in flag else ''}" for axis in axes]


def recorded(name: str, what: str, series: dict, mask: Mask) -> dict[str, np.ndarray]:
    fields = series[name]
    if what == "final":
        return {f"{name}_final": fields[-1]}
    if what.endswith("_all"):
        return {f"{name}_{what}": REDUCTIONS[what.removesuffix("_all")](fields)}
    if what.endswith("raw"):
        return mask.parts(name, fields)
    parts = mask.parts(f"{name}_{what}", fields)
    axis = mask.time_axis()
    if what == "rms":
        return {path: mask.reduced(np.sqrt(np.mean(v**2, axis=axis))) for path, v in parts.items()}
    return {path: mask.reduced(REDUCTIONS[what](v, axis=axis)) for path, v in parts.items()}


def intensity(simulation: FileSimulation, series: dict, mask: Mask, flags: set) -> dict[str, np.ndarray]:
    """Average intensity by the package's own function, over whole fields; the heat deposition from it."""
    axes, shape = simulation.axes, simulation.datasets_shape()
    rows = {name: fields.reshape(len(fields), -1).T for name, fields in series.items()}
    found = acoustic_intensity({"p": rows["p"]} | {f"u{a}": rows[f"u{a}_non_staggered"] for a in axes})
    averages = {}
    for axis in axes:
        field = found[f"I{axis}_avg"].reshape(1, *shape)
        for path, values in mask.parts(f"I{axis}_avg", field).items():
            averages[path] = mask.reduced(values[:, 0] if mask.boxes is None else values[0])
    results = dict(averages) if "I_avg" in flags else {}
    if "Q_term" in flags:
        results |= heat_deposition(simulation, averages, mask)
    return results


def heat_deposition(simulation: FileSimulation, averages: dict, mask: Mask) -> dict[str, np.ndarray]:
    """Not in the package: minus the spectral divergence of the average intensity, which is zero outside the
    mask.
    """
    axes, shape = simulation.axes, simulation.datasets_shape()
    heat = np.zeros(shape)
    for axis in axes:
        along = 2 - "xyz".index(axis)
        field = mask.onto_grid(averages, f"I{axis}_avg", shape)
        k = 2 * np.pi * np.fft.fftfreq(shape[along], scalar(simulation.datasets, f"d{axis}"))
        k = k.reshape([-1 if i == along else 1 for i in range(3)])
        heat -= np.fft.ifft(1j * k * np.fft.fft(field, axis=along), axis=along).real
    parts = mask.parts("Q_term", heat[np.newaxis])
    return {path: mask.reduced(v[:, 0] if mask.boxes is None else v[0]) for path, v in parts.items()}
