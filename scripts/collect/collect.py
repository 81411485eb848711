#!/usr/bin/env python3
"""Measures the kernel tables of a GPU:

    python3 scripts/collect/collect.py --gpu h200-sxm --out bench_data
"""

import sys

if sys.version_info < (3, 10):
    sys.exit("collect.py: needs Python 3.10 or later, found " + sys.version.split()[0])

from rooflua_collect.command import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
