"""The recipe in `training/` is no installed package: its tests import it from the plugin's folder."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
