#!/bin/sh
# A campaign on a SLURM of its own: a controller and a node on this machine, started and ended by this test.
. "$(dirname "$0")/lib.sh"
needs slurmctld slurmd sbatch
[ "$(id -u)" -eq 0 ] || { echo "SKIPPED: a SLURM of its own needs root"; exit 4; }
host=$(hostname -s)
mkdir "$top/state" "$top/spool"
port=$((20000 + $$ % 20000))
echo CgroupPlugin=cgroup/v1 >"$top/cgroup.conf"
cat >"$top/slurm.conf" <<END
ClusterName=rooflua
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation=$top/state
SlurmdSpoolDir=$top/spool
SlurmctldPidFile=$top/slurmctld.pid
SlurmdPidFile=$top/slurmd.pid
SlurmctldLogFile=$top/slurmctld.log
SlurmdLogFile=$top/slurmd.log
SlurmctldPort=$port
SlurmdPort=$((port + 1))
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=2,batch_sched_delay=1,bf_interval=2
ReturnToService=2
SlurmdParameters=config_overrides
KillWait=5
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF="$top/slurm.conf"
at_end() {
  for each in slurmctld slurmd; do [ ! -f "$top/$each.pid" ] || kill "$(cat "$top/$each.pid")" 2>/dev/null || true; done
  sleep 1
  rm -rf "$top"
}
slurmctld -c
slurmd -c -f "$SLURM_CONF" || { echo "SKIPPED: slurmd cannot start here"; exit 4; }
ready() { timeout 40 sh -c 'until [ "$(sinfo -h -o %t)" = idle ]; do sleep 0.3; done'; }
ready || { echo "SKIPPED: the node does not come up here"; tail -n 5 "$top"/slurmctld.log "$top"/slurmd.log; exit 4; }

ended() { timeout 200 sh -c 'while [ -n "$(squeue -h)" ]; do sleep 0.5; done'; }
count=${ROOFLUA_CAMPAIGN_RUNS:-1000}
scenario "$count" 300
printf 'partition = "all"\nmost = 4\n' >"$top/site.toml"
"$rooflua" campaign submit "$top/s.lua" --on slurm --shards 4 --dir "$top/c" --site "$top/site.toml" --run \
  >"$top/said" 2>&1 || { cat "$top/said"; exit 1; }
check "the jobs are submitted" has "$top/said" "shards: job "
job=$(sed -n 's/^shards: job \([0-9]*\);.*/\1/p' "$top/said")
# One task is killed at once when both have kept some runs; the other gets TERM.
for shard in 001 002; do
  kept="$top/c/results/shard-$shard-of-004.sqlite"
  timeout 60 sh -c "until [ -s '$kept' ] && [ \$(stat -c %s '$kept') -gt 60000 ]; do sleep 0.1; done" || true
done
check "a task is killed" scancel --signal=KILL "${job}_1"
check "a task gets TERM" scancel --full --signal=TERM "${job}_2"
check "all jobs end" ended
check "the merge names the shards that lack runs" grep -qx '1-2\|1\|2' "$top"/c/logs/merge-*.log
check "the task that got TERM said what is missing" grep -q "the same command runs only those" "$top/c/logs/${job}_2.log"
check "a part is submitted again" sh "$top/c/submit.sh" --array=1-2
check "all jobs end again" ended
check "then nothing is missing" grep -q "no run is missing: all $count are there" "$top"/c/logs/merge-*.log
check "merged shards are the run on one machine" same_as_alone "$count"

scenario 12 5
timeout 100 "$rooflua" campaign run "$top/s.lua" --on slurm --shards 2 --dir "$top/with space" --site "$top/site.toml" \
  >"$top/run.txt" 2>"$top/run.err" || cat "$top/run.err"
"$rooflua" run "$top/s.lua" >"$top/alone.txt" 2>/dev/null
check "campaign run waits for its tasks, merges and prints the report of one machine" cmp "$top/run.txt" "$top/alone.txt"
check "logs are in a folder with a space" sh -c "ls '$top/with space/logs' | grep -q '_0.log'"
finish
