"""A day of syncs: many tenants, everything that goes wrong outside, and what the books say afterwards."""
