#!/usr/bin/env python3
"""Self-test of the log checker: right logs pass, each wrong one is reported in the right words.

    python3 tests/logcheck/selftest.py
"""

import sys
import unittest
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    __package__ = "logcheck"

from logcheck.selftest_brute import Brute  # noqa: E402,F401
from logcheck.selftest_claims import Bounds, Claims, Figures  # noqa: E402,F401
from logcheck.selftest_command import Command  # noqa: E402,F401
from logcheck.selftest_figures import ByHand  # noqa: E402,F401
from logcheck.selftest_junk import Junk  # noqa: E402,F401
from logcheck.selftest_openb import Openb  # noqa: E402,F401
from logcheck.selftest_rules import Lines, Placements, Progress, Stops  # noqa: E402,F401

if __name__ == "__main__":
    sys.setrecursionlimit(20000)
    unittest.main(module=sys.modules[__name__])
