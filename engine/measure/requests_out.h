#pragma once
// One row per request: our CSV, which is also a trace to replay (serve/traces.h), and the result
// file of vLLM's serving benchmark.

#include <ostream>
#include <string>
#include <vector>

#include "base/json.h"
#include "measure/summary.h"
#include "measure/text_out.h"
#include "serve/observer.h"

namespace rooflua {

/// id,class,session,replica,prefill_replica,outcome,arrival_s,prompt_tokens,output_tokens,
/// cached_tokens,preemptions,priority,queue_s,ttft_s,tpot_s,e2e_s: one row per request as it
/// ends, in that order; times exact to the picosecond, cells empty where a request did not get
/// that far. Replicas count from 1. Memory does not grow.
class RequestsCsv : public Observer {
 public:
  RequestsCsv(std::ostream& out, std::string name, std::vector<std::string> classes = {});
  void on_done(const RequestDone& done) override;
  /// @throws Error if something could not be written
  void finish() { out_.flush(); }

 private:
  TextOut out_;
  std::vector<std::string> classes_;
};

/// Keeps about 130 bytes per request for the arrays of vLLM's file. It has what `vllm bench serve
/// --save-detailed` has, but for texts and `itls` (the gaps of every request); times are seconds
/// in arrays and milliseconds in the statistics, as there.
class VllmBench : public Observer {
 public:
  void on_done(const RequestDone& done) override;
  Json result(const Summary& summary, const std::string& model) const;

 private:
  std::vector<RequestDone> done_;
};

}  // namespace rooflua
