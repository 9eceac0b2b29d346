# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints on disk (docs/formats/checkpoint.md): what there is, whether it is sound, what can go.

`manifest` reads what a checkpoint says of itself, and `listing` finds checkpoints. `verify` has every byte of
one read by `tailrace-checkpoint` and names the `damage`. `prune` removes what newer ones made superfluous.
"""
