"""The embedded checkpoint of laya: a small English decision model, found under the name `mini`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

CHECKPOINT: Final = Path(__file__).parent / "checkpoint"
"""The checkpoint's directory, in the published layout."""
