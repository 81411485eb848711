#!/bin/sh
# What `campaign submit` writes for engines that are not here, and what it refuses.
. "$(dirname "$0")/lib.sh"
scenario 6 3
submit() { "$rooflua" campaign submit "$top/s.lua" "$@"; }
refused() { # WHAT IT SAYS, ARGUMENTS...
  part=$1
  shift
  if submit "$@" >"$top/said" 2>&1; then echo "was not refused"; return 1; fi
  has "$top/said" "$part"
}
submit --on sge --shards 3 --dir "$top/sge" >"$top/said"
check "SGE counts from 1" has "$top/sge/job.sh" "-t 1-3"
check "a task of SGE does its shard" env SGE_TASK_ID=2 sh "$top/sge/job.sh"
check "its file is there" test -s "$top/sge/results/shard-001-of-003.sqlite"
check "the scenario's files are copied" test -f "$top/sge/scenario/t.csv" -a -f "$top/sge/scenario/own.lua"
check "the README says how to go on" has "$top/sge/README.md" "results list"

printf 'image = "example/rooflua:1"\nnamespace = "lab"\nprogram = "%s"\n' "$rooflua" >"$top/site.toml"
submit --on kubernetes --shards 3 --dir "$top/k8s" --site "$top/site.toml" >"$top/said"
if python3 -c 'import yaml' 2>/dev/null; then
  cat >"$top/check.py" <<'END'
import pathlib, sys, yaml
top = pathlib.Path(sys.argv[1])
files, job = yaml.safe_load_all((top / "k8s/job.yaml").read_text())
spec = job["spec"]
assert (job["kind"], spec["completionMode"], spec["completions"], spec["backoffLimitPerIndex"]) == ("Job", "Indexed", 3, 3)
assert "maxFailedIndexes" in spec and job["metadata"]["namespace"] == "lab"
pod = spec["template"]["spec"]
assert pod["restartPolicy"] == "Never" and pod["securityContext"]["runAsNonRoot"]
one = pod["containers"][0]
assert one["resources"]["requests"] == one["resources"]["limits"] and one["image"] == "example/rooflua:1"
items = pod["volumes"][0]["configMap"]["items"]
for item in items:
    target = top / "pod/scenario" / item["path"]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(files["data"][item["key"]])
command = one["command"][2].replace("$$", "$")  # as Kubernetes does
assert "/scenario" in command and "/results" in command
command = command.replace("/scenario", str(top / "pod/scenario")).replace("/results", str(top / "pod/results"))
(top / "pod/command.sh").write_text(command)
END
  mkdir -p "$top/pod/results"
  check "the manifest is what Kubernetes takes" python3 "$top/check.py" "$top"
  for i in 0 1 2; do
    check "the command of index $i runs" sh -c "JOB_COMPLETION_INDEX=$i sh '$top/pod/command.sh' >'$top/pod/$i.log'"
    rm "$top"/pod/results/*
  done
  check "logs of pods are merged" "$rooflua" results merge "$top/pods.sqlite" "$top/pod/0.log" "$top/pod/1.log" "$top/pod/2.log"
  "$rooflua" run "$top/s.lua" --results "$top/pods.sqlite" >/dev/null 2>"$top/err"
  check "they are all runs of the scenario" has "$top/err" "6 of 6 runs were in"
else
  echo "SKIPPED: no python3-yaml here: the manifest is not parsed"
fi
mkdir "$top/tables" "$top/elsewhere" "$top/moved"
cp bench_data/h200-sxm/hardware.toml bench_data/h200-sxm/gemm_bf16_vllm.csv "$top/tables"
cp scenarios/models/llama-3.1-8b.toml "$top/elsewhere/own.toml"
cat >"$top/m.lua" <<'END'
return { rooflua = 1, model = "./own.toml", hardware = "h200-sxm", mfu = { path = "tables" },
  workload = require "workloads.poisson" { num_requests = 3 }, vary = { seed = { 1, 2 } } }
END
(cd "$top/elsewhere" && "$rooflua" campaign submit ../m.lua --on sge --shards 1 --dir "$top/m" >"$top/said")
mv "$top/elsewhere" "$top/tables" "$top/moved"
check "tables beside the scenario and a model in the working directory are copied" env SGE_TASK_ID=1 sh "$top/m/job.sh"
check "the merge knows the set that was submitted" sh "$top/m/merge.sh"
check "a word that is no engine" refused "unknown engine 'slurmm'; did you mean 'slurm'" --on slurmm --shards 2 --dir "$top/x"
check "Kubernetes needs an image" refused "must name an image" --on kubernetes --shards 2 --dir "$top/x"
echo 'partitoin = "a"' >"$top/wrong.toml"
check "a key that the engine does not know" refused "did you mean 'partition'" --on slurm --shards 2 --dir "$top/x" \
  --site "$top/wrong.toml"
mkdir "$top/full" && touch "$top/full/mine"
check "a folder with other files" refused "holds no campaign" --on slurm --shards 2 --dir "$top/full"
check "no shards" refused "--shards" --on slurm --dir "$top/x"
check "nothing was written" test ! -e "$top/x"
finish
