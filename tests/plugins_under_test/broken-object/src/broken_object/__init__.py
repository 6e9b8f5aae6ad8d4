"""Settings, and no hook."""

SETTINGS = {"level": "info"}
