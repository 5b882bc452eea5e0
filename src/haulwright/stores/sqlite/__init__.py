"""The embedded default: one file, many processes of one host."""
