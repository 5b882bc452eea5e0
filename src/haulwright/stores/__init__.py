"""The memory: what is stored, and the statements that change it. All SQL of the engine is in here."""
