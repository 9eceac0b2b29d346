"""Runs that are stopped or killed and gone on with, on other numbers of ranks."""

import contextlib
import importlib.util
import os
import random
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import h5py
import numpy as np
import pytest

import jobs
from kwave_input import small_input
from molecules_cases import RESTLESS, mixture, output, table
from test_rehearse import world

pytestmark = pytest.mark.mpi

STEPS = 40
EVERY = 7

# The state, a series, sums and extremes over time, points of several ranks.
SEISMIC = f"""
[case]
simulation = "seismic"
[domain]
cells = [15, 14, 13]
spacing_m = [10, 11, 12]
[time]
dt_s = 0.001
steps = {STEPS}
[model]
equations = "tti"
vp_m_s = 2500
epsilon = 0.2
delta = 0.1
dip_rad = 0.5
azimuth_rad = 0.3
[source]
wavelet = "ricker"
fcut_hz = 40
cells = [[7, 6, 6], [0, 12, 3]]
amplitudes = [1, -2.5]
[boundary]
kind = "random"
width = 3
[[output]]
name = "series"
quantity = "q"
every = 3
[[output]]
name = "loud"
quantity = "p"
reduce = "max"
[[output]]
name = "rms"
quantity = "p"
reduce = "rms"
first = 5
type = "float64"
[[output]]
name = "mean"
quantity = "q"
reduce = "mean"
select = {{points = [[14, 13, 12], [0, 0, 0], [7, 6, 6], [0, 0, 0]]}}
[checkpoint]
every = {EVERY}
"""

REHEARSAL = f"""
[case]
simulation = "rehearse"
[domain]
cells = [16]
[rehearse]
select = ["whole", "boxes:5", "points:9"]
[time]
steps = {STEPS}
[[output]]
name = "rms"
quantity = "v"
reduce = "rms"
[[output]]
name = "least"
quantity = "v"
reduce = "min"
first = 9
[checkpoint]
every = {EVERY}
keep = 3
"""

# Particles that cross the parts of all ranks, most of them on few; ranks beyond the planes own nothing.
PARTICLES = f"""
[case]
simulation = "rehearse"
[domain]
cells = [9, 8, 5]
[rehearse]
select = ["points:20"]
particles = 1000
clustering = 3
drift = 0.7
verify = true
[time]
steps = {STEPS}
[checkpoint]
every = {EVERY}
"""

ULTRASOUND = f"""
[case]
simulation = "ultrasound"
[input]
file = "input.h5"
[time]
steps = {STEPS}
[record]
p_raw = true
p_max = true
p_rms = true
u_min = true
p_max_all = true
p_final = true
[[output]]
name = "mean"
quantity = "p"
reduce = "mean"
type = "float64"
[checkpoint]
every = {EVERY}
"""

MOLECULES = mixture(
    output("energy", "total_energy", every=3),
    output("mean", "mean_pressure", every=4),
    output("highest", "temperature", reduce="max"),
    output("places", "position", every=10, type="float64"),
    output("turns", "orientation", reduce="final", type="float64"),
    output("slabs", "density", bins=[2, 1, 4], reduce="mean", type="float64"),
    table("checkpoint", every=EVERY),
)

CASES = {
    "seismic": (SEISMIC, jobs.SEISMIC),
    "rehearse": (REHEARSAL, jobs.REHEARSE),
    "particles": (PARTICLES, jobs.REHEARSE),
    "ultrasound": (ULTRASOUND, jobs.PROGRAM),
    "molecules": (MOLECULES, jobs.MOLECULES),
    "molecules-kd": (MOLECULES + table("decomposition", **RESTLESS), jobs.MOLECULES),
}
# Those whose sums have another order on other numbers of ranks: how far off values may be after so few steps.
ROUNDED = {"molecules": 1e-9, "molecules-kd": 1e-9}


class Computation:
    """A run directory and the legs that lead to its end."""

    def __init__(self, simulation: str, directory: Path, *settings: str) -> None:
        text, self.program = CASES[simulation]
        self.simulation = simulation
        directory.mkdir(parents=True, exist_ok=True)
        if simulation == "ultrasound":
            small_input().write(directory / "input.h5")
        self.case, self.run_dir = directory / "case.toml", directory / "run"
        self.case.write_text(text)
        self.settings = [word for setting in settings for word in ("--set", setting)]

    def start(self, *options, ranks: int = 1) -> jobs.Job:
        words = ["--case", self.case, "--out", self.run_dir, *self.settings, "--quiet", *options]
        self.progress_before = self.progress()
        return jobs.Job(words, ranks, command=[str(self.program)])

    def computes(self) -> bool:
        """Whether this leg has come to its steps."""
        return self.progress() not in (None, self.progress_before)

    def progress(self) -> tuple[int, int] | None:
        """What tells one progress.json from another; an earlier leg's stays until the state is restored."""
        try:
            told = (self.run_dir / "progress.json").stat()
        except FileNotFoundError:
            return None
        return told.st_ino, told.st_mtime_ns

    def steps_saved(self) -> list[int]:
        names = [path.name for path in (self.run_dir / "checkpoints").glob("step-*[0-9]")]
        return sorted(int(name.removeprefix("step-")) for name in names)

    def datasets(self) -> dict[str, np.ndarray]:
        return jobs.read_datasets(self.run_dir / "output.h5")


def assert_same(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    assert set(found) == set(expected)
    different = [
        name
        for name in found
        if name != "tailrace_record" and found[name].tobytes() != expected[name].tobytes()
    ]
    assert not different, different


def assert_close(found: dict[str, np.ndarray], expected: dict[str, np.ndarray], limit: float) -> None:
    assert set(found) == set(expected)
    different = [
        name
        for name in found
        if name != "tailrace_record" and not np.allclose(found[name], expected[name], rtol=limit, atol=limit)
    ]
    assert not different, different


class Whole:
    """What runs write that nobody stops, each made when it is asked for."""

    def __init__(self, parent: Path) -> None:
        self.parent = parent
        self.made: dict[tuple[str, int], dict[str, np.ndarray]] = {}
        self.lock = threading.Lock()

    def of(self, simulation: str, ranks: int) -> dict[str, np.ndarray]:
        with self.lock:
            if (simulation, ranks) not in self.made:
                computation = Computation(simulation, self.parent / f"{simulation}-{ranks}")
                ended = computation.start(ranks=ranks).wait()
                assert ended.status == 0, ended
                self.made[simulation, ranks] = computation.datasets()
            return self.made[simulation, ranks]

    def assert_reached(self, simulation: str, found: dict[str, np.ndarray], ranks: int | None = None) -> None:
        """Bit for bit, if all legs had these ranks or the numbers of ranks make no difference."""
        if simulation not in ROUNDED:
            assert_same(found, self.of(simulation, 1))
        elif ranks is not None:
            assert_same(found, self.of(simulation, ranks))
        else:
            assert_close(found, self.of(simulation, 1), ROUNDED[simulation])


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Whole:
    return Whole(tmp_path_factory.mktemp("whole"))


MANY = [1, 2, 3, 4, 7]
FEW = [1, 2, 3]


@pytest.mark.parametrize("simulation", CASES)
@pytest.mark.parametrize("first", FEW if jobs.waits_spin() else MANY)
def test_legs_on_any_numbers_of_ranks(simulation, first, tmp_path, whole):
    """Killed after a while, gone on with by as many, more and fewer ranks: bit for bit the same."""
    killed = Computation(simulation, tmp_path / "killed")
    ended = killed.start("--fault", "kill:step=26", ranks=first).wait()
    assert ended.status != 0, ended
    saved = killed.steps_saved()
    assert saved and saved[-1] in (14, 21), saved

    def go_on(second: int) -> None:
        computation = Computation(simulation, tmp_path / str(second))
        shutil.copytree(killed.run_dir, computation.run_dir)
        ended = computation.start("--resume", ranks=second).wait()
        assert ended.status == 0, ended
        told = jobs.account(computation.run_dir)
        assert told["resumed_from"] == saved[-1] and told["steps"] == STEPS
        whole.assert_reached(simulation, computation.datasets(), first if first == second else None)

    jobs.in_parallel([partial(go_on, second) for second in (FEW if jobs.waits_spin() else MANY)], 2)


def test_more_ranks_than_cells(tmp_path):
    """The particles of two cells, from seven ranks to three and to one."""
    ranks = FEW if jobs.waits_spin() else [7, 3, 1]
    few = ["domain.cells=[2,1,1]", 'rehearse.select=["whole"]', "rehearse.particles=50"]
    computation = Computation("particles", tmp_path, *few)
    for leg, (count, fault) in enumerate(zip(ranks, ["kill:step=16", "kill:step=30", None], strict=True)):
        options = ["--fault", fault] if fault else []
        ended = computation.start(*(["--resume"] if leg else []), *options, ranks=count).wait()
        assert (ended.status == 0) == (fault is None), ended
    # The one before the newest has its name, whenever a rank is killed.
    assert jobs.account(computation.run_dir)["resumed_from"] in (21, 28)


def test_other_particles_than_were_saved_are_refused(tmp_path):
    computation = Computation("particles", tmp_path)
    assert computation.start("--fault", "kill:step=26", ranks=2).wait().status != 0
    for setting in ("particles=999", "clustering=2", "drift=0.6"):
        ended = computation.start("--resume", "--set", f"rehearse.{setting}", ranks=2).wait()
        assert ended.status == 2 and "the checkpoint has other particles" in ended.err, ended


def test_a_changed_checksum_of_particles_is_found(tmp_path):
    computation = Computation("particles", tmp_path)
    assert computation.start(ranks=2).wait().status == 0
    output = computation.run_dir / "output.h5"
    assert jobs.rehearse("--verify", output).status == 0
    with h5py.File(output, "r+") as file:
        file["rehearsal_particle_sum"][0] ^= 1
    ended = jobs.rehearse("--verify", output)
    assert ended.status == 1 and "1000 particles have the checksum" in ended.err, ended


@pytest.mark.parametrize("strategy", ["blocking", "threads", "leaders", "uring", "ranks:1", "spawn:1"])
def test_every_strategy_takes_and_leaves_them(strategy, tmp_path, whole):
    computation = Computation("rehearse", tmp_path)
    ranks = world(2, strategy)
    ended = computation.start("--write", strategy, "--fault", "kill:step=33", ranks=ranks).wait()
    assert ended.status != 0, ended
    assert computation.steps_saved()
    ended = computation.start("--write", strategy, "--resume", ranks=ranks).wait()
    assert ended.status == 0, ended
    whole.assert_reached("rehearse", computation.datasets())


def test_signals_ask_for_checkpoints_and_for_the_end(tmp_path, whole):
    """SIGUSR1: one, and on; SIGTERM: one, and the end, from which the run can be gone on with."""
    slow = ["checkpoint.every=100000", 'rehearse.compute="memory"', "rehearse.compute_ms=40"]
    computation = Computation("rehearse", tmp_path, *slow)
    job = computation.start(ranks=2)
    job.wait_for((computation.run_dir / "progress.json").exists, "progress")
    job.send(signal.SIGUSR1, rank=1)
    job.wait_for(lambda: len(computation.steps_saved()) == 1, "checkpoint")
    assert job.process.poll() is None
    job.send(signal.SIGTERM, rank=0)
    ended = job.wait()
    assert ended.status == 4, ended
    told = jobs.account(computation.run_dir)
    saved = computation.steps_saved()
    assert told["checkpoints"] == 2 and told["status"] == "stopped" and saved[-1] == told["steps"] < STEPS
    ended = computation.start("--resume", ranks=3).wait()
    assert ended.status == 0, ended
    whole.assert_reached("rehearse", computation.datasets())
    assert jobs.account(computation.run_dir / "legs/1")["reason"] == "SIGTERM"


def test_the_newest_are_kept_and_the_one_gone_on_from(tmp_path):
    computation = Computation("rehearse", tmp_path)
    ended = computation.start(ranks=2).wait()
    assert ended.status == 0, ended
    assert computation.steps_saved() == [21, 28, 35]
    told = jobs.account(computation.run_dir)
    assert told["checkpoints"] == 5 and told["checkpoint_bytes"] >= 5 * 8 * 16**3
    assert 0 < told["checkpoint_s"] < told["wall_s"]


def formula(cells: int, step: int) -> np.ndarray:
    """The field of a rehearsal: x + y a + z a^2 + t a^3."""
    z, y, x = np.meshgrid(*[np.arange(cells)] * 3, indexing="ij")
    return (x + cells * (y + cells * (z + cells * step))).astype(float)


@pytest.mark.parametrize("compress", ["none", "zstd", "zstd:19"])
def test_a_reader_without_tailrace(compress, tmp_path):
    """examples/read_checkpoint.py verifies every checksum of what the programs write, and has the values."""
    script = Path(__file__).resolve().parents[2] / "examples" / "read_checkpoint.py"
    description = importlib.util.spec_from_file_location("read_checkpoint", script)
    reader = importlib.util.module_from_spec(description)
    description.loader.exec_module(reader)
    if compress != "none":
        jobs.needs_zstd()
    computation = Computation("rehearse", tmp_path, f'checkpoint.compress="{compress}"')
    ended = computation.start(ranks=3).wait()
    assert ended.status == 0, ended
    for step in computation.steps_saved():
        path = computation.run_dir / f"checkpoints/step-{step:012d}"
        manifest, _, _, arrays = reader.read_checkpoint(path)
        assert (manifest["step"], manifest["ranks"], manifest["simulation"]) == (step, 3, "rehearse")
        assert np.array_equal(arrays["cube/value"], formula(16, step))
        least = arrays["output/least.0"]
        assert sorted(least["element"]) == list(range(16**3))
        assert np.array_equal(np.sort(least["value"]), formula(16, 9).ravel().astype("f4"))
        ended = jobs.tailrace("checkpoint", "verify", path)
        assert ended.status == 0, ended
    state = path / "state.h5"
    content = bytearray(state.read_bytes())
    content[len(content) // 3] ^= 1
    state.write_bytes(content)
    with pytest.raises(ValueError, match="damaged"):
        reader.read_checkpoint(path)
    assert jobs.tailrace("checkpoint", "verify", path).status == 1


@pytest.mark.parametrize("simulation", CASES)
def test_compressed_ones_on_other_numbers_of_ranks(simulation, tmp_path, whole):
    """Killed, and gone on with: bit for bit the same, also where buffers keep few of the cells."""
    jobs.needs_zstd()
    for compress, buffers in [("zstd", "1MiB"), ("zstd:19", "6KiB")]:
        settings = [f'checkpoint.compress="{compress}"', f'checkpoint.buffers="{buffers}"']
        computation = Computation(simulation, tmp_path / buffers, *settings)
        ended = computation.start("--fault", "kill:step=26", ranks=3).wait()
        assert ended.status != 0, ended
        ended = jobs.tailrace("checkpoint", "verify", computation.run_dir)
        assert ended.status == 0, ended
        newest = computation.run_dir / f"checkpoints/step-{computation.steps_saved()[-1]:012d}"
        with h5py.File(newest / "state.h5") as file:
            stored = [item for item in file["sets"].values() for item in item.values()]
            assert all(item["data"].attrs["compression"] == b"zstd" for item in stored)
        ended = computation.start("--resume", ranks=2).wait()
        assert ended.status == 0, ended
        whole.assert_reached(simulation, computation.datasets())


def test_a_compression_that_nobody_knows(tmp_path):
    ended = Computation("rehearse", tmp_path, 'checkpoint.compress="gzip"').start().wait()
    assert ended.status == 2, ended
    for words in ('checkpoint.compress = "gzip" is not known', "none, zstd or zstd:LEVEL"):
        assert words in ended.err, ended


@pytest.mark.parametrize("simulation", ["seismic", "molecules-kd"])
def test_damaged_ones_are_skipped_with_a_warning(simulation, tmp_path, whole):
    computation = Computation(simulation, tmp_path)
    assert computation.start("--fault", "kill:step=30", ranks=2).wait().status != 0
    saved = computation.steps_saved()
    assert len(saved) >= 2
    state = computation.run_dir / f"checkpoints/step-{saved[-1]:012d}/state.h5"
    content = bytearray(state.read_bytes())
    content[len(content) // 2] ^= 1
    state.write_bytes(content)
    ended = computation.start("--resume", ranks=3).wait()
    assert ended.status == 0, ended
    assert "skipped a checkpoint" in ended.err and str(state.parent) in ended.err
    assert jobs.account(computation.run_dir)["resumed_from"] == saved[-2]
    whole.assert_reached(simulation, computation.datasets())


def contents(directory: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def test_no_checkpoint_of_the_wrong_case(tmp_path):
    computation = Computation("seismic", tmp_path)
    assert computation.start("--fault", "kill:step=30").wait().status != 0
    before = contents(computation.run_dir)
    for old, new, words in [
        ("dt_s = 0.001", "dt_s = 0.0009", ["time.dt_s = 0.001"]),
        ("width = 3", "width = 4", ["points, this run has"]),
        ("vp_m_s = 2500", 'vp_m_s = 2500\nprecision = "float64"', ["this run computes in"]),
        ('name = "loud"', 'name = "louder"', ["louder.0", "missing"]),
    ]:
        computation.case.write_text(SEISMIC.replace(old, new, 1))
        ended = computation.start("--resume").wait()
        assert ended.status == 2, ended
        for word in words:
            assert word in ended.err, ended
        assert contents(computation.run_dir) == before


def test_what_another_simulation_left_stays_as_it_is(tmp_path):
    """Neither the program nor the command touches the account, the traces or the report of the leg before."""
    computation = Computation("seismic", tmp_path, "time.steps=4000", "domain.cells=[30,30,30]")
    words = [
        "run",
        computation.case,
        "--out",
        computation.run_dir,
        *computation.settings,
        "--wall-limit",
        "0.5s",
    ]
    assert jobs.tailrace(*words).status == 4
    assert (computation.run_dir / "report.html").exists()
    before = contents(computation.run_dir)
    computation.case.write_text(REHEARSAL)
    other = Computation("rehearse", tmp_path)
    ended = other.start("--resume").wait()
    assert ended.status == 2 and "is of the simulation seismic, not of rehearse" in ended.err, ended
    assert contents(computation.run_dir) == before
    computation.case.write_text(SEISMIC.replace("width = 3", "width = 4"))
    ended = jobs.tailrace("resume", computation.run_dir)
    assert ended.status == 2 and "points, this run has" in ended.err, ended
    assert "stopped" not in ended.out, ended
    assert contents(computation.run_dir) == before


def test_nothing_to_go_on_from(tmp_path):
    computation = Computation("rehearse", tmp_path)
    ended = computation.start("--resume").wait()
    assert ended.status == 2 and "no checkpoint to go on from" in ended.err, ended


@pytest.mark.parametrize(("policy", "status"), [("warn", 0), ("stop", 3)])
def test_a_checkpoint_that_cannot_be_written(policy, status, tmp_path):
    """Its place is taken by a file, which is the same to the run as a full disk."""
    computation = Computation("rehearse", tmp_path, f"checkpoint.on_failure={policy}", "checkpoint.every=10")
    slow = ["--set", 'rehearse.compute="memory"', "--set", "rehearse.compute_ms=20"]
    job = computation.start(*slow, ranks=2)
    job.wait_for((computation.run_dir / "progress.json").exists, "progress")
    (computation.run_dir / "checkpoints").write_text("in the way")
    ended = job.wait()
    assert ended.status == status, ended
    assert "checkpoint" in ended.err and "cannot be made" in ended.err


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("policy", ["warn", "stop"])
def test_a_full_disk(policy, ranks, tmp_path, small_disk, whole):
    """Where the checkpoints go there is room for one; the output has room elsewhere."""
    computation = Computation("rehearse", tmp_path, f"checkpoint.on_failure={policy}")
    place = computation.run_dir / "checkpoints"
    small_disk("300k", place)
    ended = computation.start("--overwrite", ranks=ranks).wait()
    assert ended.status == (0 if policy == "warn" else 3), ended
    assert "No space left on device" in ended.err and str(place) in ended.err, ended
    assert [path.name for path in place.iterdir()] == [f"step-{EVERY:012d}"]
    assert jobs.tailrace("checkpoint", "verify", place).status == 0
    if policy == "warn":
        whole.assert_reached("rehearse", computation.datasets())
        return
    assert "No space left on device" in jobs.account(computation.run_dir)["error"]["message"]
    subprocess.run(["mount", "-o", "remount,size=16m", place], check=True)
    ended = computation.start("--resume", ranks=ranks - 1).wait()
    assert ended.status == 0, ended
    assert jobs.account(computation.run_dir)["resumed_from"] == EVERY
    whole.assert_reached("rehearse", computation.datasets())


@pytest.mark.parametrize("strategy", ["blocking", "threads", "leaders"])
@pytest.mark.parametrize(("policy", "status"), [("warn", 0), ("stop", 3)])
def test_injected_errors_of_a_checkpoint(policy, status, strategy, tmp_path):
    """Every checkpoint but the first fails in its middle; the few samples end before faults begin."""
    few = ['rehearse.select=["points:5"]', "rehearse.every=10"]
    computation = Computation("rehearse", tmp_path, f"checkpoint.on_failure={policy}", *few)
    computation.case.write_text(REHEARSAL.split("[[output]]")[0] + f"[checkpoint]\nevery = {EVERY}\n")
    fault = "write:step=10,after=8000,error=EIO"
    ended = computation.start("--write", strategy, "--fault", fault, ranks=3).wait()
    assert ended.status == status, ended
    assert "Input/output error" in ended.err and "checkpoints/step-000000000014" in ended.err, ended
    assert computation.steps_saved() == [EVERY]
    ended = computation.start("--resume", ranks=2).wait()
    assert ended.status == 0, ended
    assert jobs.rehearse("--verify", computation.run_dir / "output.h5").status == 0


def test_the_command(tmp_path, whole):
    computation = Computation("seismic", tmp_path)
    words = [
        "run",
        computation.case,
        "--out",
        computation.run_dir,
        "-n",
        "2",
        "--fault",
        "kill:step=30",
        "--no-report",
    ]
    ended = jobs.tailrace(*words)
    assert ended.status == 3, ended
    assert f"tailrace resume {computation.run_dir}" in ended.out
    ended = jobs.tailrace("resume", computation.run_dir, "-n", "3")
    assert ended.status == 0 and "go on with it" not in ended.out, ended
    whole.assert_reached("seismic", computation.datasets())
    page = (computation.run_dir / "report.html").read_text()
    assert "Checkpoints and legs" in page
    again = jobs.tailrace("resume", computation.run_dir)
    assert again.status == 2 and "has finished" in again.err, again
    shutil.rmtree(computation.run_dir / "checkpoints")
    (computation.run_dir / "run.json").unlink()
    none = jobs.tailrace("resume", computation.run_dir)
    assert none.status == 2 and "has no checkpoints" in none.err, none


def wait_while(job: jobs.Job, condition: Callable[[], bool], limit_s: float) -> None:
    """As long as the job runs, and not longer than the limit."""
    end_s = time.monotonic() + limit_s
    while condition() and time.monotonic() < end_s and job.process.poll() is None:
        time.sleep(0.002)


def kill_at_random(seed: int, whole: Whole, make: Callable[[random.Random], Computation]) -> None:
    """Kills one process or all of them at any moment, again and again, until the run comes to its end."""
    chance = random.Random(seed)
    computation = make(chance)
    pace = ["--pace", f"latency={chance.choice([1, 3, 10])}ms"]
    strategy = ["--write", chance.choice(["blocking", "threads", "leaders"])]
    for leg in range(20):
        before = computation.steps_saved()
        resume = ["--resume"] if before else ["--overwrite"]
        job = computation.start(*resume, *pace, *strategy, ranks=chance.choice([1, 2, 3]))
        if chance.random() < 0.8:  # else it may be killed before its first step
            wait_while(job, lambda: not computation.computes(), jobs.LIMIT_S)
        wait_while(job, lambda: True, chance.uniform(0, 0.6))
        if job.process.poll() is None and leg < 12:
            everyone = job.processes()
            victims = everyone if chance.random() < 0.5 else everyone[:1]
            for pid in victims:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        ended = job.wait()
        if ended.status == 0:
            assert jobs.account(computation.run_dir)["resumed_from"] == (before[-1] if before else 0), seed
            whole.assert_reached(computation.simulation, computation.datasets())
            return
        if computation.steps_saved() and before:
            assert computation.steps_saved()[-1] >= before[-1], seed
    raise AssertionError(f"seed {seed}: no end after 20 legs")


def often(simulations: list[str], directory: Path, chance: random.Random) -> Computation:
    """Any of the simulations, with checkpoints on its heels; every third one compressed."""
    compress = chance.choice(["none", "none", "zstd" if jobs.knows_zstd() else "none"])
    settings = ["checkpoint.every=3", f'checkpoint.compress="{compress}"']
    return Computation(chance.choice(simulations), directory, *settings)


@pytest.mark.parametrize("seed", range(6 if jobs.waits_spin() else 20))
def test_killed_at_any_moment(seed, tmp_path, whole):
    kill_at_random(seed, whole, partial(often, list(CASES), tmp_path))


@pytest.mark.parametrize("seed", range(100, 102 if jobs.waits_spin() else 106))
def test_killed_at_any_moment_with_molecules(seed, tmp_path, whole):
    kill_at_random(seed, whole, partial(often, list(ROUNDED), tmp_path))


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1000, 1280))
def test_killed_at_any_moment_often(seed, tmp_path, whole):
    kill_at_random(seed, whole, partial(often, list(CASES), tmp_path))
