"""A small world of news, and the feeds that tell of it."""
