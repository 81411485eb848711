"""Measures a GPU in minutes and writes a folder of kernel tables. Needs Python 3.9 and PyTorch, and nothing else:

    python3 -m zipapp scripts/collect/measure -o measure.pyz      one file
    scp measure.pyz machine:
    python3 measure.pyz --out my-gpu            measures, most valuable shapes first; the same command carries on
    python3 measure.pyz --out my-gpu --plan     says what would be measured and how long it takes; needs no GPU

docs/DATA.md, "Measuring your own", says more. The folder itself runs as well: python3 scripts/collect/measure.
"""

import sys

if sys.version_info < (3, 9):
    sys.exit("measure: needs Python 3.9 or later, found " + sys.version.split()[0])

from command import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
