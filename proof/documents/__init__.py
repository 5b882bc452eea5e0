"""Documents under fire: many files, servers that lie, and workers that are killed."""
