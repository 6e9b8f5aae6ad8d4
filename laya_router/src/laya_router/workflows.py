"""The typed-decisions workflows: sets of question ids that the `typed-decisions` checkpoint was trained on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

WORKFLOWS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "agent_trace_observability": frozenset({"action", "needs_review", "outcome", "risk", "urgency"}),
        "customer_service": frozenset({"action", "category", "churn_risk", "needs_human", "urgency"}),
        "invoice_processing": frozenset(
            {"discrepancy_severity", "disposition", "duplicate", "matches_order", "urgency"}
        ),
        "security_incidents": frozenset(
            {"credential_compromise", "disposition", "severity", "true_positive", "urgency"}
        ),
    }
)


def match_workflow(question_ids: Iterable[object]) -> str | None:
    """The workflow whose question ids are exactly these, or None."""
    ids = frozenset(question_ids)
    return next((name for name, expected in WORKFLOWS.items() if ids == expected), None)
