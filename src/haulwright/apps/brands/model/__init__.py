"""Drafts by a model: its account, what it is told, and its API."""
