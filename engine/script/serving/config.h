#pragma once
// The table that scripts/lib/rooflua/serving/live.lua hands over, read into what the engine runs.

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "measure/record/quantile_watch.h"
#include "measure/record/summary.h"
#include "measure/write/requests.h"
#include "serve/replica/cluster.h"

namespace rooflua::script {

/// Listeners of a run besides its summary.
struct ListenerOptions {
  std::optional<std::string> requests_path, rows_path, trace_path;
  std::optional<std::string> progress;            // the title of a bar
  std::optional<std::int64_t> expected_requests;  // of the bar
  std::optional<int> why;                         // the request to explain
  std::optional<std::int64_t> why_play;           // the play to explain, from 0
  std::optional<std::vector<QuantileLimit>> limits;
  bool record = false, journal = false, sketch = false, keep_requests = false, caps = false,
       growth = false, plays = false,
       inbox = false;      // requests are given from outside, and the workload only says lengths
  VllmBenchOptions bench;  // the traffic, for requests_path
  std::vector<PoolOptions> pools;  // of the summary, for sketch
};

struct ServingConfig {
  ClusterConfig cluster;
  SummaryOptions summary;
  ListenerOptions listeners;
  bool closes = false;  // close() gives its memory back
};

/// @throws Error naming the key: it is unknown, missing, of another kind or out of range
ServingConfig serving_config(const Json& given);

}  // namespace rooflua::script

namespace rooflua {
template <>
const FigureTable& figures<Slo>();
template <>
const FigureTable& figures<SummaryOptions>();
template <>
const FigureTable& figures<script::ListenerOptions>();
template <>
const FigureTable& figures<QuantileLimit>();
}  // namespace rooflua
