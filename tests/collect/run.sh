#!/bin/sh
# The collector's tests: PROGRAM. With a Python that has PyTorch where there is one, else without that part.
# ROOFLUA_PYTHON names another Python.
set -eu
chosen=''
for python in ${ROOFLUA_PYTHON:+"$ROOFLUA_PYTHON"} python3 /usr/bin/python3; do
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue
  [ -n "$chosen" ] || chosen=$python
  if "$python" -c 'import torch' 2>/dev/null; then
    chosen=$python
    break
  fi
done
if [ -z "$chosen" ]; then
  echo "SKIPPED: the collector's tests: no Python 3.11 or later here"
  exit 0
fi
exec env PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 "$chosen" "$(dirname -- "$0")/main.py" "$1"
