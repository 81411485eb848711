#pragma once
// The metrics of an emulated engine for Prometheus. Names, kinds and bounds are those of its
// release and come from the engine's file; here is what each of them counts.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "emulate/exposition.h"
#include "serve/loop/simulation.h"

namespace rooflua::emulate {

/// What a series shows. Times in seconds of the scenario's clock.
enum class Quantity : std::int32_t {
  // of a replica now
  running,
  waiting,
  kv_used_frac,
  used_tokens,
  total_tokens,
  total_blocks,
  block_tokens,
  one,  // of a series whose labels say something
  // counted
  preemptions,
  prompt_tokens,
  output_tokens,
  prefix_queries,  // prompt tokens that were looked up
  prefix_hits,
  requests,
  finished,  // by finish_reason
  aborted,
  // observed
  ttft_s,
  itl_s,
  tpot_s,
  e2e_s,
  queue_s,
  prefill_s,
  decode_s,
  inference_s,
  prompt_length,
  output_length,
  max_tokens,
};
inline constexpr int quantity_count = 27;

/// A request that ended, for the series.
struct Ended {
  std::int32_t replica = -1;  // -1: it never had one
  Picoseconds arrival = 0, queued = never, scheduled = never, first = never, last = never;
  std::int32_t prompt_tokens = 0, output_tokens = 0, max_tokens = 0;
  const char* reason = "stop";  // "stop", "length", "abort", "error"
};

class Metrics {
 public:
  /// @param told  {families = [{name, type, help, quantity, buckets?, labels?}], labels = {key =
  /// text}, unused_blocks?: that the engine counts and no request gets}; a label's text may hold
  /// %model, %replica, %blocks, %block_tokens and %kv_tokens. Labels of a family stand behind those
  /// of all.
  /// @throws Error for a quantity that does not exist
  Metrics(const Json& told, std::string model, std::int32_t replicas);

  void first_token(std::int32_t replica, double ttft_s, std::int32_t prompt_tokens,
                   std::int32_t cached_tokens);
  void tokens(std::int32_t replica, std::int32_t count);
  void gap(std::int32_t replica, double itl_s);
  void preempted(std::int32_t replica);
  void ended(const Ended& request);

  /// @param only  the replica whose series are asked for; -1: all of them
  void write(const Simulation& simulation, std::int32_t only, Exposition& out) const;

 private:
  struct Family {
    std::string name, type, help;
    Quantity quantity = Quantity::running;
    std::vector<double> buckets;
    Labels labels;
  };
  struct Observed {
    std::array<double, quantity_count> counts{};
    std::map<std::string, double> finished;                 // by reason
    std::map<Quantity, std::vector<Histogram>> histograms;  // one per family with the quantity
  };
  void observe(std::int32_t replica, Quantity quantity, double value);
  double now(const Simulation& simulation, std::int32_t replica, Quantity quantity) const;
  Labels labels_of(const Simulation& simulation, std::int32_t replica, const Family& family) const;
  double& count(std::int32_t replica, Quantity quantity);

  std::vector<Family> families_;
  Labels labels_;
  std::string model_;
  int unused_blocks_ = 0;
  std::vector<Observed> observed_;  // by replica
};

}  // namespace rooflua::emulate
