"""The routes of the engine, one module a noun."""
