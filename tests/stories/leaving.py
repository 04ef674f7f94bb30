"""A module of a user's that ends whoever imports it. Named in the configuration of a story."""

raise SystemExit(3)
