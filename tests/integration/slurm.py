# SPDX-License-Identifier: BSD-3-Clause
"""A Slurm of one node on this machine, as long as a test: slurmctld and slurmd of Debian's packages."""

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import jobs
from native import cannot

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "srun", "scontrol", "scancel", "squeue")
PACKAGES = ("slurmctld", "slurmd", "slurm-client")
CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
MpiDefault=pmix
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd.pid
SlurmctldLogFile={directory}/slurmctld.log
SlurmdLogFile={directory}/slurmd.log
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=test Nodes={host} Default=YES State=UP MaxTime=60
"""


def missing() -> list[str]:
    return [name for name in PROGRAMS if shutil.which(name) is None]


def install() -> None:
    """Leaves the test out if Slurm is not there and cannot be installed."""
    if not missing():
        return
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        cannot(f"{', '.join(missing())} not found, and no packages can be installed here")
    for words in (["update"], ["install", "-y", "--no-install-recommends", *PACKAGES]):
        done = subprocess.run(
            ["apt-get", *words],
            env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
            capture_output=True,
            text=True,
            check=False,
        )
    if missing():
        cannot(f"Slurm cannot be installed here: {done.stdout}{done.stderr}")


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Slurm:
    """The daemons, from `with` to its end; nothing of them is left afterwards."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.daemons: list[subprocess.Popen] = []

    def __enter__(self) -> "Slurm":
        for name in ("state", "spool"):
            (self.directory / name).mkdir(parents=True)
        host = socket.gethostname().split(".")[0]
        text = CONFIGURATION.format(host=host, ports=free_ports(2), directory=self.directory)
        (self.directory / "slurm.conf").write_text(text)
        for name in ("slurmctld", "slurmd"):
            with (self.directory / f"{name}.out").open("w") as out:
                daemon = subprocess.Popen(
                    [name, "-D"], env=self.environment(), stdout=out, stderr=subprocess.STDOUT
                )
            self.daemons.append(daemon)
        try:
            self.wait_for(lambda: "idle" in self.ask("sinfo", "-h", "-o", "%T"), 30, "node")
        except AssertionError as error:
            self.__exit__()
            cannot(str(error))
        return self

    def __exit__(self, *_: object) -> None:
        self.ask("scancel", "--user=root")
        end = time.monotonic() + 60
        while self.ask("squeue", "-h") and time.monotonic() < end:
            time.sleep(0.5)
        for daemon in reversed(self.daemons):
            daemon.terminate()
            daemon.wait(30)
        for pid in self.processes():
            os.kill(pid, signal.SIGKILL)

    def environment(self) -> dict[str, str]:
        return jobs.environment("slurm") | {"SLURM_CONF": str(self.directory / "slurm.conf")}

    def ask(self, *words: Any) -> str:
        """What one of Slurm's commands says."""
        done = subprocess.run(
            [str(word) for word in words], env=self.environment(), capture_output=True, text=True, check=False
        )
        return (done.stdout if done.returncode == 0 else done.stdout + done.stderr).strip()

    def submit(self, directory: Path, *words: Any) -> int:
        """Submits a script from a directory; returns the number of the job. Its output is in `job-N.out`."""
        done = self.ask(
            "sbatch", "--parsable", f"--chdir={directory}", f"--output={directory}/job-%j.out", *words
        )
        assert done.isdigit(), done
        return int(done)

    def field(self, job: int, name: str) -> str:
        reported = self.ask("scontrol", "show", "job", job, "-o").split()
        return next((word.partition("=")[2] for word in reported if word.startswith(f"{name}=")), "")

    def wait_until_ended(self, job: int, limit_s: float) -> str:
        """Returns the state in which it ended."""
        running = ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING")
        self.wait_for(lambda: self.field(job, "JobState") not in running, limit_s, f"end of job {job}")
        return self.field(job, "JobState")

    def wait_for(self, condition, limit_s: float, what: str) -> None:
        end = time.monotonic() + limit_s
        while not condition():
            logs = [path.read_text() for path in sorted(self.directory.glob("slurm*.log"))]
            assert time.monotonic() < end, "\n".join([f"no {what} in {limit_s} s", *logs])
            time.sleep(0.5)

    def processes(self) -> list[int]:
        """Everything that knows this configuration."""
        wanted = f"SLURM_CONF={self.directory}/slurm.conf".encode()
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if wanted in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:
                continue
        return found
