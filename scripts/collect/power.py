#!/usr/bin/env python3
"""Measures the power of a GPU under steady loads (docs/DATA.md, "Measuring"):

    python3 scripts/collect/power.py --gpu h100-sxm --to power.csv
"""

import sys

if sys.version_info < (3, 10):
    sys.exit("power.py: needs Python 3.10 or later, found " + sys.version.split()[0])

from rooflua_collect.power import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
