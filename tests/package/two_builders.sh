#!/bin/sh
# Two first builds in one folder: the second waits for the first, and both end well. CMake is a stand-in that fails where
# another one runs.
#   two_builders.sh SOURCES
# Status 4: SKIPPED, because flock is missing.
set -u
command -v flock >/dev/null 2>&1 || { echo "SKIPPED: flock is not installed"; exit 4; }
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
mkdir -p "$top/tree/scripts" "$top/tree/engine" "$top/tree/tests" "$top/bin"
cp "$1/scripts/rooflua" "$1/scripts/bootstrap.sh" "$top/tree/scripts"
touch "$top/tree/CMakeLists.txt"
cat > "$top/bin/cmake" <<CMAKE
#!/bin/sh
mkdir "$top/busy" || { echo "two builders"; exit 1; }
sleep 1
folder="$top/tree/build/release"
mkdir -p "\$folder/bin"
[ "\$1" = --build ] && { echo built >> "$top/builds"; printf '#!/bin/sh\necho ran\n' > "\$folder/bin/rooflua"; chmod +x "\$folder/bin/rooflua"; }
touch "\$folder/build.ninja"
rmdir "$top/busy"
CMAKE
chmod +x "$top/bin/cmake"
PATH=$top/bin:$PATH
for i in 1 2 3; do
  ("$top/tree/scripts/rooflua" > "$top/out$i" 2>&1; echo "status $?" >> "$top/out$i") &
done
wait
cat "$top/out1" "$top/out2" "$top/out3"
[ "$(cat "$top/out1" "$top/out2" "$top/out3" | grep -c 'status 0')" -eq 3 ] || { echo "FAILED: a builder failed"; exit 1; }
[ "$(grep -c built "$top/builds")" -eq 1 ] || { echo "FAILED: what was built was built again"; exit 1; }
grep -q 'another build runs' "$top/out1" "$top/out2" "$top/out3" || { echo "FAILED: nobody waited"; exit 1; }
