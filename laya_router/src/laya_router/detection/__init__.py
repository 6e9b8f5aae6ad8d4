"""Can an English-only checkpoint read what a state says? Scripts and languages, from evidence one can look at."""

from laya_router.detection.detector import Detection, Reading, detect, read

__all__ = ["Detection", "Reading", "detect", "read"]
