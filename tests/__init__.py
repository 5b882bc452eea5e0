"""Promises to users, as tests."""
