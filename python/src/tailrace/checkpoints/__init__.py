"""Checkpoints on disk (docs/formats/checkpoint.md): what there is, whether it is sound, what can go.

`manifest` reads what a checkpoint says of itself, and `listing` finds checkpoints. `verify` reads every byte
of one in pieces (`source`) and names the `damage`: `contents` looks at the whole file, `sets` at a field or a
set of records, whose `kinds` differ. `prune` removes what newer ones have made superfluous.
"""
