"""Benchmarks: each compares by ratio, over interleaved repetitions, and keeps every raw sample."""

# Name and one line each, in the order of `tailrace bench`; module tailrace.commands.bench has their options.
BENCHMARKS = {
    "ultrasound": "time per step against transforms, memory bandwidth and, where given, k-Wave's own binary",
    "output": "how much of the writing hides behind the computation; many boxes against one",
}
