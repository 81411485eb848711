#pragma once
// One row per request: our CSV, which is also a trace to replay (serve/traces/read.h), and the
// result file of vLLM's serving benchmark.

#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/json.h"
#include "measure/record/summary.h"
#include "measure/token_observer.h"
#include "measure/write/text_out.h"
#include "serve/contract/observer.h"

namespace rooflua {

/// id,class,session,replica,prefill_replica,outcome,arrival_s,prompt_tokens,output_tokens,
/// cached_tokens,preemptions,priority,queue_s,ttft_s,tpot_s,e2e_s: one row per request as it
/// ends, in that order; times exact to the picosecond, cells empty where a request did not get
/// that far. Replicas count from 1. Memory does not grow.
/// Where it is speculated for requests there are three columns more: rounds,drafted_tokens,
/// accepted_tokens. They count rounds that landed; accepted tokens after the end of an answer
/// count. With KV tiers there are tier_tokens, which its last load brought, and load_s, how long
/// that took. With clients there are attempt, from 0, and origin, the id of the first attempt. With
/// a gate there is tenant, its number; with a gate, pools or faults held_s, how long it waited in
/// front of the router. With adapters there is adapter, from 1; 0: none. With items there are
/// images, audio_s and video, lists in JSON as a trace has them (serve/traces/columns.h).
struct RequestsCsvOptions {
  std::vector<std::string> classes;  // names
  bool speculates = false;
  bool tiers = false;
  bool clients = false;
  bool tenants = false;
  bool held = false;
  bool adapters = false;
  /// EncoderModel::size() of a kind of items; none where requests have no items.
  std::function<Json(std::int32_t)> items = {};
};

class RequestsCsv : public Observer {
 public:
  RequestsCsv(std::ostream& out, std::string name, RequestsCsvOptions options = {});
  bool reads_prices() const override { return false; }
  void on_done(const RequestDone& done) override;
  /// @throws Error if something could not be written
  void finish() { out_.flush(); }

 private:
  void write_items(const RequestDone& done);

  TextOut out_;
  RequestsCsvOptions options_;
};

/// Every request that ended, as columns in order of arrival: for comparing runs.
class KeptRequests : public Observer {
 public:
  bool reads_prices() const override { return false; }
  void on_done(const RequestDone& done) override { done_.push_back(done); }
  /// {input_lens, output_lens, start_times, ttfts, e2els, errors}: the names of vLLM's benchmark,
  /// seconds; "" is no error.
  Json columns() const;

 private:
  std::vector<RequestDone> done_;
};

/// What `vllm bench serve --save-result --save-detailed` says of the traffic, where the workload
/// knows it.
struct VllmBenchOptions {
  std::string model;  // model_id
  std::string label;
  std::optional<double> request_rate;  // per second; infinite is "inf"; none: null
  std::optional<double> burstiness;
  std::optional<std::int64_t> max_concurrency;
};

/// The result file of vLLM's serving benchmark, with its names, units (seconds in arrays,
/// milliseconds in statistics) and definitions. Statistics are those of `summary`; arrays are in
/// order of arrival. Keeps about 130 bytes per request and 8 per token.   @source SERVING A4
class VllmBench : public TokenObserver {
 public:
  using TokenObserver::TokenObserver;
  void on_done(const RequestDone& done) override;
  Json result(const Summary& summary, const VllmBenchOptions& options) const;

 private:
  struct Answer {
    Picoseconds last = never;
    std::vector<Picoseconds> gaps;
  };
  /// Tokens that land together come in one piece, with one gap before it.
  void on_tokens(std::int32_t id, std::int32_t tokens, Picoseconds now) override;

  std::vector<RequestDone> done_;
  std::unordered_map<std::int32_t, Answer> answers_;  // by id; looked up only
};

}  // namespace rooflua
