#!/bin/sh
# Runs the tests of the Python package: run.sh ROOFLUA. Debian's python3 is tried first, because another one on PATH may
# lack pandas and pytest. Without pandas the tests of lists of dicts run. ROOFLUA_REQUIRE_PYTHON=1: no pytest is a failure.
rooflua=$1
for modules in pytest,pandas pytest; do
  for python in /usr/bin/python3 python3; do
    if "$python" -c "import $modules" 2>/dev/null; then
      echo "$python: $("$python" -c 'import sys; print(sys.version.split()[0])') with $modules"
      PYTHONPATH=$("$rooflua" --python-path) ROOFLUA=$rooflua PYTHONDONTWRITEBYTECODE=1 \
        exec "$python" -m pytest -q -p no:cacheprovider tests/python
    fi
  done
done
echo "SKIPPED: no python3 has pytest (apt install python3-pytest python3-pandas)"
test -z "$ROOFLUA_REQUIRE_PYTHON"
