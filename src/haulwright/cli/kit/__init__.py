"""What every command stands on: the tree of commands, their common options, the site they work at, their output."""
