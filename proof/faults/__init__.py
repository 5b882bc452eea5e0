"""Faults on real processes: a server that restarts, freezes or is cut off, a full disk, poison, and signals."""
