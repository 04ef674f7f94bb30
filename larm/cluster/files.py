"""Names of the files that an agent keeps in its crawl's folder of queues, for who only looks whether they are there."""

IDENTITY = "agent.json"
ROSTER = "agents.json"
