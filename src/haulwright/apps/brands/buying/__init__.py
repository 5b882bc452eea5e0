"""Paid runs at Apify: what is fresh enough, what is ordered, begun once, looked at and fetched."""
