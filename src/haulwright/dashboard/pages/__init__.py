"""The pages of the engine, one file a noun."""
