"""For fleets of hosts: the same books on PostgreSQL."""
