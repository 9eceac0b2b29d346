"""Tailrace: output, checkpoints and insight for parallel simulations."""

__version__ = "0.1.0"
