#!/bin/sh
# Drives pages in Chromium: pages.sh ROOFLUA. Without Python it says so and ends well, as pages.py does without Chromium.
if ! command -v python3 >/dev/null 2>&1; then
  echo "SKIPPED: no python3"
  exit 0
fi
exec python3 "$(dirname -- "$0")/pages.py" "$1"
