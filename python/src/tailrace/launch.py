# SPDX-License-Identifier: BSD-3-Clause
"""Command lines that start a native program on several ranks under Open MPI, MPICH (Hydra) or Slurm."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field

from tailrace import cores
from tailrace.console import CommandError, count_of
from tailrace.programs import LaunchInfo

BIND_CHOICES = ("auto", "none", "core", "numa", "socket")
LAUNCHER_CHOICES = ("mpirun", "srun")
# More processes than this per core are a slip of the keyboard rather than a wish.
MAX_RANKS_PER_CORE = 4
BATCH_VARIABLES = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID")


@dataclass(frozen=True)
class Machine:
    """The cores a job is laid out for; in a batch job the launcher knows the nodes better than we do."""

    cores: int
    physical_cores: int
    numa_nodes: int = 1
    batch: bool = False
    busy: bool = False
    """Other programs want as many cores as there are."""

    @staticmethod
    def here() -> "Machine":
        batch = any(name in os.environ for name in BATCH_VARIABLES)
        usable = cores.usable_cores()
        busy = not batch and os.getloadavg()[0] > usable
        return Machine(usable, cores.physical_cores(), cores.numa_nodes(), batch, busy)


@dataclass(frozen=True)
class Launcher:
    """One launcher: kind (openmpi, mpich, srun, none for a plain process) and its executable."""

    kind: str
    path: str = ""

    @property
    def stop_signal(self) -> signal.Signals:
        """What to send to the launcher so that all ranks stop in good order.

        Open MPI and Slurm pass SIGUSR2 on to the ranks and would end the job on SIGTERM. Hydra passes SIGTERM
        on and dies of SIGUSR2.
        """
        return signal.SIGTERM if self.kind == "mpich" else signal.SIGUSR2


@dataclass(frozen=True)
class Layout:
    """How a job is put on a machine."""

    ranks: int
    threads: int
    bind: str = "auto"
    machine: Machine = field(default_factory=Machine.here)
    spawned: int = 0
    """Processes that the ranks are going to start."""
    oversubscribe: bool = False
    """The user wants as many processes as this, however few cores there are."""

    @property
    def processes(self) -> int:
        return self.ranks + self.spawned


def find_launcher(info: LaunchInfo, wanted: str | None, ranks: int) -> Launcher:
    """The launcher to use; a single rank starts as a plain process where there is none."""
    if wanted is not None and wanted not in LAUNCHER_CHOICES:
        raise CommandError(f"--launcher {wanted}: unknown. Choose one of {', '.join(LAUNCHER_CHOICES)}.")
    if wanted != "srun" and (found := find_mpirun(info)):
        return found
    if wanted != "mpirun" and (path := shutil.which("srun")):
        return Launcher("srun", path)
    if wanted is not None:
        raise CommandError(f"--launcher {wanted}: there is no {wanted} on this machine.")
    if ranks > 1:
        raise CommandError(
            f"{ranks} ranks need a launcher, and there is no mpirun, mpiexec or srun on this machine."
        )
    return Launcher("none")


def find_mpirun(info: LaunchInfo) -> Launcher | None:
    if info.mpiexec and os.access(info.mpiexec, os.X_OK):
        kind = info.implementation if info.implementation in ("openmpi", "mpich") else identify(info.mpiexec)
        return Launcher(kind, info.mpiexec)
    for name in mpirun_names(info.implementation):
        if path := shutil.which(name):
            kind = identify(path)
            if info.implementation in ("other", kind):
                return Launcher(kind, path)
    return None


def mpirun_names(implementation: str) -> list[str]:
    """Names to look for: the unambiguous ones first, because `mpirun` may belong to another MPI."""
    special = {"openmpi": ["mpirun.openmpi", "orterun"], "mpich": ["mpiexec.mpich", "mpiexec.hydra"]}
    return [*special.get(implementation, []), "mpirun", "mpiexec"]


def identify(path: str) -> str:
    """The kind of an mpirun, from what it says about itself."""
    answer = subprocess.run(
        [path, "--version"], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    said = answer.stdout + answer.stderr
    if any(word in said for word in ("Open MPI", "OpenRTE", "PRRTE", "prte")):
        return "openmpi"
    return "mpich" if "HYDRA" in said.upper() or "MPICH" in said else "other"


def default_threads(ranks: int, environment: Mapping[str, str], machine: Machine) -> int:
    """OMP_NUM_THREADS, the batch job's cores per task, or an equal share of the cores."""
    for name in ("OMP_NUM_THREADS", "SLURM_CPUS_PER_TASK"):
        first = environment.get(name, "").split(",")[0].strip()
        if re.fullmatch("[1-9][0-9]*", first):
            return int(first)
        if first:
            raise CommandError(f"{name}={first}: no number of threads. Set it to 1 or more, or unset it.")
    return max(1, machine.cores // ranks)


def check_bind(bind: str) -> None:
    """Raises CommandError for a binding it does not know."""
    if bind not in BIND_CHOICES:
        raise CommandError(f"--bind {bind}: unknown. Choose one of {', '.join(BIND_CHOICES)}.")


def check_processes(layout: Layout) -> None:
    """Raises CommandError for far more processes than this machine has cores; a batch system has limits of
    its own.
    """
    limit = MAX_RANKS_PER_CORE * layout.machine.cores
    if layout.oversubscribe or layout.machine.batch or layout.processes <= limit:
        return
    raise CommandError(
        f"-n: {layout.processes} processes are too many for {count_of(layout.machine.cores, 'core')}. "
        f"Start at most {limit}, or add --oversubscribe if you mean it."
    )


def launch_command(launcher: Launcher, layout: Layout, program: list[str]) -> list[str]:
    """The whole command line. Raises CommandError for a binding it does not know."""
    check_bind(layout.bind)
    options = {"openmpi": openmpi_options, "mpich": hydra_options, "srun": srun_options}
    if launcher.kind == "none":
        return program
    chosen = options[launcher.kind](layout) if launcher.kind in options else []
    return [launcher.path, *chosen, "-n", str(layout.ranks), *program]


def resolve_bind(layout: Layout) -> str:
    """Binding pays where memory is far from some cores. Elsewhere it harms: two jobs would share the first
    cores.
    """
    if layout.bind != "auto":
        return layout.bind
    machine = layout.machine
    fits = layout.ranks * layout.threads <= machine.physical_cores
    return "core" if layout.ranks > 1 and machine.numa_nodes > 1 and (fits or machine.batch) else "none"


def openmpi_options(layout: Layout) -> list[str]:
    bind = resolve_bind(layout)
    options = []
    if layout.processes > layout.machine.physical_cores and not layout.machine.batch:
        options.append("--oversubscribe")
    if bind == "core":
        options += ["--map-by", f"slot:PE={layout.threads}"]
    elif bind in ("numa", "socket"):
        options += ["--map-by", bind]
    return [*options, "--bind-to", bind]


def hydra_options(layout: Layout) -> list[str]:
    bind = resolve_bind(layout)
    return ["-bind-to", f"core:{layout.threads}" if bind == "core" else bind]


def srun_options(layout: Layout) -> list[str]:
    names = {"none": "none", "core": "cores", "numa": "ldoms", "socket": "sockets"}
    return [f"--cpus-per-task={layout.threads}", f"--cpu-bind={names[resolve_bind(layout)]}"]


def child_environment(threads: int, bind: str = "none", busy: bool = False) -> dict[str, str]:
    """The environment of the job; `bind` as resolved. Ranks with cores of their own have a thread on each; on
    a busy machine threads that wait do not spin, since they would take the core from the one that copies
    samples. What the user says of OpenMP stays.
    """
    reported = any(name in os.environ for name in ("OMP_PLACES", "OMP_PROC_BIND"))
    places = {"OMP_PLACES": "cores", "OMP_PROC_BIND": "close"} if bind == "core" and not reported else {}
    waits = any(name in os.environ for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT"))
    waiting = {"OMP_WAIT_POLICY": "passive"} if busy and not waits else {}
    return dict(os.environ, OMP_NUM_THREADS=str(threads)) | places | waiting | root_permission()


def transport_environment(transport: str | None) -> dict[str, str]:
    """What ranks must have in their environment from the start for a transport of exchanges: OpenSHMEM starts
    and ends with MPI.
    """
    return {"TAILRACE_EXCHANGE": "shmem"} if transport == "shmem" else {}


def root_permission() -> dict[str, str]:
    """Open MPI refuses to start for root unless stated twice that it is meant."""
    if os.geteuid() != 0:
        return {}
    prefixes = ("OMPI", "PRTE")
    return {f"{prefix}_ALLOW_RUN_AS_ROOT{suffix}": "1" for prefix in prefixes for suffix in ("", "_CONFIRM")}
