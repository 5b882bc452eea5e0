"""What can be counted about the items of a bundle. Each measure is a function of items and the time, and cites."""
