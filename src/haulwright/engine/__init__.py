"""The rules: pure functions of values. No clock, no database, no threads."""
