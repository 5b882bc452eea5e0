"""Airbyte public API v1: tokens, workspaces, connections, jobs."""
