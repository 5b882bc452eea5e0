"""Apify v2: actors, runs, datasets, and who pays for what."""
