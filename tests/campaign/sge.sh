#!/bin/sh
# A campaign on a Grid Engine of its own, which this test starts and ends; by hand:
#     apt-get install --no-install-recommends gridengine-master gridengine-exec gridengine-client
#     sh tests/campaign/sge.sh build/release/bin/rooflua
#
# Grid Engine wants a host whose address is not 127.x, a cell with an administrator, a queue, and jobs of a user whose
# id is at least 1000. All of that is made in name spaces of this process: nothing of the machine is changed, and what
# was started ends with the test.
. "$(dirname "$0")/lib.sh"
needs sge_qmaster sge_execd qsub unshare setpriv
[ "$(id -u)" -eq 0 ] || { echo "SKIPPED: a Grid Engine of its own needs root"; exit 4; }
if [ "${2:-}" != inside ]; then
  at_end
  unshare -n -m -p -u -f --mount-proc true 2>/dev/null || { echo "SKIPPED: no name spaces can be made here"; exit 4; }
  exec unshare -n -m -p -u -f --kill-child --mount-proc sh "$0" "$rooflua" inside
fi

host=node
hostname $host
ip link set lo up
ip addr add 10.99.0.1/32 dev lo
chmod 755 "$top"
in_place_of() { # FILE THAT LIES IN $top, WHAT IT STANDS IN FOR
  mount --bind "$top/$1" "$2"
}
printf '127.0.0.1 localhost\n10.99.0.1 %s\n' $host >"$top/hosts"
in_place_of hosts /etc/hosts
{ cat /etc/passwd; echo "runner:x:4321:4321::$top:/bin/sh"; } >"$top/passwd"
in_place_of passwd /etc/passwd
{ cat /etc/group; echo "runner:x:4321:"; } >"$top/group"
in_place_of group /etc/group
mkdir -p "$top/spool/qmaster/job_scripts" "$top/spool/spooldb" "$top/spool/execd" "$top/cell/common" "$top/run"
cp /usr/share/gridengine/default-bootstrap "$top/cell/common/bootstrap"
echo $host >"$top/cell/common/act_qmaster"
chown -R sgeadmin "$top/spool" "$top/cell" "$top/run"
in_place_of spool /var/spool/gridengine
mkdir -p /var/lib/gridengine/default
in_place_of cell /var/lib/gridengine/default
export SGE_ROOT=/var/lib/gridengine SGE_CELL=default SGE_QMASTER_PORT=6444 SGE_EXECD_PORT=6445
as_admin() { setpriv --reuid sgeadmin --regid "$(id -g sgeadmin)" --clear-groups "$@"; }
as_admin /usr/share/gridengine/scripts/init_cluster $SGE_ROOT $SGE_CELL /var/spool/gridengine/spooldb sgeadmin \
  >"$top/init.log"
sge_qmaster
timeout 20 sh -c 'until qconf -sh >/dev/null 2>&1; do sleep 0.3; done'

# qconf opens an editor on a form: this one fills it in.
fill_in() { # EXPRESSIONS OF sed, THEN -- AND OPTIONS OF qconf
  printf '#!/bin/sh\nsed -i' >"$top/editor"
  while [ "$1" != -- ]; do
    printf " -e '%s'" "$1" >>"$top/editor"
    shift
  done
  shift
  echo ' "$1"' >>"$top/editor"
  chmod +x "$top/editor"
  EDITOR="$top/editor" qconf "$@" >>"$top/qconf.log" 2>&1
}
qconf -as $host >>"$top/qconf.log"
fill_in "s/^hostname .*/hostname $host/" -- -ae
fill_in 's/^group_name .*/group_name @allhosts/' "s/^hostlist .*/hostlist $host/" -- -ahgrp @allhosts
fill_in 's/^pe_list .*/pe_list NONE/' 's/^hostlist .*/hostlist @allhosts/' 's/^slots .*/slots 4/' \
  's/^load_thresholds .*/load_thresholds NONE/' 's/^notify .*/notify 00:00:10/' -- -aq all.q
fill_in 's/^flush_\(.*\)_sec .*/flush_\1_sec 1/' 's/^schedule_interval .*/schedule_interval 0:0:2/' \
  's/^job_load_adjustments .*/job_load_adjustments NONE/' -- -msconf
sge_execd
# A node has five columns until it has a state that keeps jobs away.
ready() { timeout 60 sh -c 'until qstat -f | awk "/^all.q@/ && NF == 5 { up = 1 } END { exit !up }"; do sleep 0.5; done'; }
ready || { echo "FAIL  the node does not come up"; qstat -f; cat "$top/qconf.log" "$top"/spool/*/messages; exit 1; }

chown runner "$top"
as_runner() { setpriv --reuid runner --regid 4321 --clear-groups "$@"; }
count=${ROOFLUA_CAMPAIGN_RUNS:-400}
scenario "$count" 1500
as_runner "$rooflua" campaign submit "$top/s.lua" --on sge --shards 4 --dir "$top/c" --run >"$top/said" 2>&1 ||
  { cat "$top/said"; exit 1; }
job=$(sed -n 's/^shards: job \([0-9]*\).*/\1/p' "$top/said")
check "the jobs are submitted" test -n "$job"
ended() { timeout 200 sh -c 'while [ -n "$(qstat -u "*")" ]; do sleep 0.5; done'; }
# The process of a task: the one that runs the program.
process_of() {
  for each in /proc/[0-9]*; do
    tr '\0' '\n' <"$each/environ" 2>/dev/null | grep -qx "SGE_TASK_ID=$1" || continue
    tr '\0' ' ' <"$each/cmdline" | grep -q "^$rooflua run" && basename "$each"
  done
}
begun() { timeout 60 sh -c "until [ -s '$1' ] && [ \$(stat -c %s '$1') -gt 60000 ]; do sleep 0.1; done"; }
check "a task keeps runs" begun "$top/c/results/shard-001-of-004.sqlite"
check "it is killed" sh -c "kill -9 $(process_of 2 | tr '\n' ' ')"
check "another is taken away" as_runner qdel "$job.3"
check "all jobs end" ended
check "the task that was taken away had its notice" has "$top/c/logs/s.o$job.3" "the same command runs only those"
check "the merge names the shards that lack runs" sh -c "cat '$top'/c/logs/s-merge.o* | grep -qx '1-2'"
as_runner sh "$top/c/submit.sh" -t 2-3 >"$top/said"
check "a part is submitted again" has "$top/said" "shards: job "
check "all jobs end again" ended
check "then nothing is missing" sh -c "cat '$top'/c/logs/s-merge.o* | grep -q 'no run is missing: all $count are there'"
check "merged shards are the run on one machine" same_as_alone "$count"

scenario 12 5
as_runner timeout 200 "$rooflua" campaign run "$top/s.lua" --on sge --shards 3 --dir "$top/with space" >"$top/run.txt" \
  2>"$top/run.err" || cat "$top/run.err"
"$rooflua" run "$top/s.lua" >"$top/alone.txt" 2>/dev/null
check "campaign run waits for its tasks, merges and prints the report of one machine" cmp "$top/run.txt" "$top/alone.txt"
finish
