"""Where examples come from, one module per source, each with `read(...) -> list[Example]`."""
