# SPDX-License-Identifier: BSD-3-Clause
"""What the study of UA on Blue Gene/P found, and what to say of ours beside it."""

SOURCE = (
    "A. A. Korzh, NPB UA on thousands of Blue Gene/P cores with a PGAS extension of OpenMP, 2010: class C on "
    "cores of 850 MHz, every mortar value put by itself as a word of 8 bytes, the mesh adapted by every "
    "process for all. Its numbers are quoted from its text; of its curves nothing else is known here. "
    "Measured: times on this machine. Inspected: counts for so many ranks, one after the other, by one "
    "process. Modelled: times on many ranks, from these counts and costs of messages."
)
# Shares of its serial time, %; those of exchanges within the diffusion are in the sum of all exchanges.
PROFILE = {"adaptation": 0.4, "convection": 24.4, "diffusion": 69.5, "other": 3.8, "exchanges outside": 1.9}
EXCHANGES = 23.0
# Seconds of class C on so many processes, those without adaptation, and speed-ups.
RUN_S = {128: 122.0, 2048: 31.0}
CHANGES_S = 14.0
SPEED_UP = {1024: (100.0, 171.0)}
SERIAL_S = 3400.0
PUBLISHED_MOPS, PROJECTED_MOPS, PUBLISHED_RANKS = 283.0, (450.0, 500.0), 2048
FINDINGS = {
    "profile": "Serial, class C: convection 24.4 %, diffusion 69.5 %, exchanges outside of the diffusion "
    "1.9 %, other 3.8 %, adaptation 0.4 %; all 4,900 exchanges together about 23 %. On 2048 processes the "
    "adaptation, which every process repeats, is 14 of 31 s.",
    "access": "Figure 2: elements in Morton order against mortar points by number. Most accesses lie on a "
    "diagonal; the vertices, numbered first, are read by all.",
    "owners": "Reversed double-block is the fastest of four rules; double-block is local and balanced; with "
    "block the owners of vertices are asked by too many; cyclic is balanced and nearly all remote.",
    "put": "Put is twice as fast as get, which needs a request for each answer. Every word is put by itself; "
    "aggregation is named as future work, of no use at extreme scale.",
    "scaling": "Performance over processes, from the numbers in the text: 283 Mop/s on 2048 (the best known "
    "before was 207), less on 4096; 122 s on 128. Dotted, with adaptation that costs nothing: 450 to 500 "
    "Mop/s.",
    "speed-up": "Speed-up of 100 on 1024 processes, 171 without the time of the adaptation, whose share of "
    "the serial time limits it to 250.",
}


def study_mops(work_mop: float) -> dict[int, float]:
    """As published or as follows from its times and speed-ups."""
    found = {ranks: work_mop / seconds for ranks, seconds in RUN_S.items()}
    found |= {ranks: work_mop * speed_up / SERIAL_S for ranks, (speed_up, _) in SPEED_UP.items()}
    return dict(sorted(found.items()))


def study_mops_without_changes(work_mop: float) -> dict[int, float]:
    """The same without the seconds of the adaptation; what it projects for its most processes instead."""
    found = {ranks: work_mop / (seconds - CHANGES_S) for ranks, seconds in RUN_S.items()}
    found |= {ranks: work_mop * speed_up / SERIAL_S for ranks, (_, speed_up) in SPEED_UP.items()}
    found[PUBLISHED_RANKS] = sum(PROJECTED_MOPS) / len(PROJECTED_MOPS)
    return dict(sorted(found.items()))
