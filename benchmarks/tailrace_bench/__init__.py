# SPDX-License-Identifier: BSD-3-Clause
"""The project's benchmarks, for the checkout: comparisons with other programs, studies, and aims.

Each compares by ratio, over interleaved repetitions, and keeps every raw sample.
"""

# Name and one line each, in the order of `tailrace bench`; module tailrace_bench.commands has their options.
BENCHMARKS = {
    "ultrasound": "time per step against transforms, memory bandwidth and, where given, k-Wave's own binary",
    "seismic": "points per second against the memory's bandwidth and, where given, Devito's generated code",
    "molecules": "time and memory per molecule and, where given, LAMMPS from the same start",
    "heat": "time per step and Mop/s of NPB's UA, its parts and, where given, NPB's own binaries",
    "fragments": "task graphs by fragments, MPI, OpenMP tasks and others; what the parts of a fragment cost",
    "poisson": "sweeps by fragments against a plain MPI solver of the same methods",
    "output": "every strategy under about 60 loads; many boxes against one",
    "exchange": "values at arbitrary indices by every transport against messages written by hand",
    "checkpoint": "checkpoints and restarts against a plain write and read; the study of states of molecules",
    "study": "a reference study (ultrasound, seismic), scaled down, on one page",
    "network": "latency, bandwidth and message rate of two ranks through each way to send, over blocking MPI",
    "start": "time to the first step and from the last to the prompt, of every simulation and the command",
    "language": "checks of fragment programs by length, a run of a small one, one changed body of many",
    "gpu": "steps of both wave simulations on a device, and what sources and samples add to them",
    "trace": "time and CPU seconds of a run with a trace against one without",
}
