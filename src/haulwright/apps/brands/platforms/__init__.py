"""What can be read from which platform, by which actor, and in which shape its items come."""
