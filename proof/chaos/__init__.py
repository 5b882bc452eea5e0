"""Chaos: faults of all kinds in an order that a seed decides, a load of everything, and a checker of its own."""
