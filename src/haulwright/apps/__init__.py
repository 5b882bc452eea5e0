"""The applications that come with the engine: brands, brief, syncs, prices and documents.

Each is found by its entry point (`haulwright.applications` in pyproject.toml), as anybody else's would be.
"""
