#!/bin/sh
# A campaign on an MPI launcher.
. "$(dirname "$0")/lib.sh"
needs mpirun
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
scenario 12 5
"$rooflua" campaign submit "$top/s.lua" --on mpirun --shards 4 --dir "$top/c" --run >"$top/said" 2>&1 ||
  { cat "$top/said"; exit 1; }
check "every rank does its shard, and the merge says so" has "$top/said" "no run is missing"
check "merged shards are the run on one machine" same_as_alone 12
finish
