"""The tasks of brands: what workers run."""
