"""Evidence: raw items normalized, what is chosen of it, and what became of each source."""
