"""How fast Haulwright is: next to its peers, next to raw loops over its own statements, on one machine in one run."""
