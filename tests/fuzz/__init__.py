"""Damaged and crafted files for every reader: a graph or one clear error, never a crash.

``python -m tests.fuzz --count 100000`` makes files from valid ones by mutation, and reads each in a child process.
An input is determined by its reader and its number, and ``--reader npz --start 4711 --count 1`` makes it again.
"""
