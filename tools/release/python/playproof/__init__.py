"""Playproof is a program; this package finds it. `python -m playproof` runs it."""
