"""Real clusters: etcd, Patroni and several PostgreSQL nodes on loopback, with fail-overs under load."""
