"""The commands of `tailrace`, one module each: their options and nothing else."""
