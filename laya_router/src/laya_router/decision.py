"""What routing answers."""

from __future__ import annotations

from typing import Any


class RouteDecision(dict[str, Any]):
    """The checkpoint chosen for a request and why: keys model, repo, reason, detection, workflow."""

    @property
    def model(self) -> str:
        """The name of the chosen checkpoint."""
        return str(self["model"])

    @property
    def reason(self) -> str:
        """One plain sentence with the evidence."""
        return str(self.get("reason", ""))
