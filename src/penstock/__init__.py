"""Penstock: a durable ingestion engine for Python."""
