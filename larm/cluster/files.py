"""Names of the files that an agent keeps in its crawl's folder of queues, for who only looks whether they are there."""

ETCD = "etcd"
"""Folder of a member of etcd, in that of the crawl."""
IDENTITY = "agent.json"
ROSTER = "agents.json"
