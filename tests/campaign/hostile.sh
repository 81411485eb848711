#!/bin/sh
# Folders and scenarios whose names would be commands: the files of a campaign are executed with stand-ins for the
# engines, and nothing but its own files appears.
. "$(dirname "$0")/lib.sh"
scenario 2 1
mkdir "$top/bin" "$top/work"
for each in sbatch qsub; do printf '#!/bin/sh\necho 7\n' >"$top/bin/$each"; done
printf '#!/bin/sh\necho Complete\n' >"$top/bin/kubectl"
# A launcher that fails, so that the messages of failures are reached; parallel is the real one where it is installed.
printf '#!/bin/sh\nfor last; do :; done\nsh "$last"\nexit 1\n' >"$top/bin/mpirun"
command -v parallel >/dev/null || printf '#!/bin/sh\nexit 1\n' >"$top/bin/parallel"
chmod +x "$top"/bin/*
PATH=$top/bin:$PATH

none() { test -z "$(find "$top" -name 'PWNED*')" || { find "$top" -name 'PWNED*'; return 1; }; }

# Submits and executes every script of a campaign. ENGINE, FOLDER, SCENARIO
executed() {
  "$rooflua" campaign submit "$3" --on "$1" --shards 2 --dir "$2" $(test "$1" = kubernetes && echo --site "$top/$1.toml") >"$top/said" 2>&1 || return 1
  for script in submit.sh run.sh job.sh task.sh merge.sh; do
    test -f "$2/$script" || continue
    (SGE_TASK_ID=1 SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=2 sh "$2/$script" 0) \
      >>"$top/said" 2>&1 || true
  done
}

printf 'image = "i"\nnamespace = "$(touch PWNED)"\nclaim = "a: [b"\n' >"$top/kubernetes.toml"
cat >"$top/read.py" <<'END'
import re, sys, yaml
parts = list(yaml.safe_load_all(open(sys.argv[1], encoding="utf-8")))
for part in parts:
    assert re.fullmatch("[a-z]([-a-z0-9]{0,61}[a-z0-9])?", part["metadata"]["name"]), part["metadata"]
    assert part["metadata"]["namespace"] == "$(touch PWNED)"
assert parts[1]["spec"]["template"]["spec"]["volumes"][1]["persistentVolumeClaim"]["claimName"] == "a: [b"
END
break=$(printf 'x\ntouch PWNED\n#')
long=$(printf '%090d' 0)
cd "$top/work"
for name in 'c $(touch PWNED)' '`touch PWNED`' "a'; touch PWNED; '" 'b"; touch PWNED; "' '-x; touch PWNED' \
  'x | touch PWNED & #' '{= touch("PWNED") =} {} {#}' '{a: [b, *c}' '%j %A é~*?' "$long" "$break"; do
  cp "$top/s.lua" "$top/$name.lua"
  for engine in sge slurm parallel mpirun kubernetes; do
    here="$top/work/$engine $name"
    for scenario in "$top/$name.lua"; do
      if executed $engine "$here" "$scenario"; then
        check "$engine: nothing of '$name' is executed" none
        if test $engine = kubernetes && python3 -c 'import yaml' 2>/dev/null; then
          check "the manifest of '$name' is read" python3 "$top/read.py" "$here/job.yaml"
        fi
      else
        case $engine,$name in
          sge,"$break" | slurm,"$break") check "$engine refuses a line break" has "$top/said" "line break" ;;
          parallel,*'{'*) check "parallel refuses braces" has "$top/said" "has a brace" ;;
          *) check "$engine takes '$name'" cat "$top/said" /nowhere ;;
        esac
      fi
      rm -rf "$here"
    done
  done
done
finish
