#!/usr/bin/env bash
# Prometheus scrapes an emulated server under load; its rates are those of the requests that the server wrote down.
#   prometheus.sh PROGRAM FOLDER
# Status 4: SKIPPED, because Prometheus or Node.js is missing. It takes a minute.
set -u
. "$(dirname -- "$0")/server.sh"
command -v prometheus >/dev/null 2>&1 || skip "prometheus is not installed"
command -v node >/dev/null 2>&1 || skip "node is not installed"

start --admin --requests live.csv
rm -rf data
cat > prometheus.yml <<YAML
scrape_configs:
  - job_name: emulated
    scrape_interval: 1s
    static_configs: [{ targets: ["${url#http://}"] }]
YAML
timeout --foreground 120 prometheus --config.file=prometheus.yml --storage.tsdb.path=data --log.level=info \
  --web.listen-address=127.0.0.1:0 > prometheus.txt 2>&1 &
beside=$!
address=
for _ in $(seq 50); do
  address=$(sed -n 's/.*msg="Listening on" address=\([0-9.:]*\).*/\1/p' prometheus.txt)
  [ -n "$address" ] && break
  sleep 0.2
done
[ -n "$address" ] || { cat prometheus.txt; echo "FAILED: Prometheus does not listen"; exit 1; }

timeout 60 node "$here/clients/load.mjs" "$url" 1000 20 200 50 > load.txt &
load=$!
sleep 46 # of the 50 s of the load
clock=$(curl -s "$url/admin/state" | sed 's/.*"clock_s":\([0-9.]*\).*/\1/')
now=$(date +%s.%N)
wait "$load"
check "every client has its tokens: $(cat load.txt)" [ $? -eq 0 ]
sleep 1.5
check "TERM ends it with status 0" stop
check "rates of Prometheus are those of --requests within 1 %" \
  node "$here/clients/prometheus.mjs" "http://$address" live.csv "$clock" "$now"
exit "$failed"
