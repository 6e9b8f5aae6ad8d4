"""A plugin that wants something its host does not have."""

raise RuntimeError("no licence key found")
