#include "measure/write/requests.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/csv.h"

namespace rooflua {

namespace {

/// (e2e - ttft) / (n - 1), in seconds.
double tpot_s(const RequestDone& done) {
  return static_cast<double>(done.last_token - done.first_token) / (done.output_tokens - 1) / 1e12;
}

void statistics_ms(Json& out, const std::string& metric, const Statistics& s) {
  out["mean_" + metric + "_ms"] = s.mean * 1e3;
  out["median_" + metric + "_ms"] = s.p50 * 1e3;
  out["std_" + metric + "_ms"] = s.std * 1e3;
  out["p90_" + metric + "_ms"] = s.p90 * 1e3;
  out["p95_" + metric + "_ms"] = s.p95 * 1e3;
  out["p99_" + metric + "_ms"] = s.p99 * 1e3;
}

}  // namespace

Json KeptRequests::columns() const {
  std::vector<RequestDone> rows = done_;
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  Json out = Json::object();
  for (const char* key : {"input_lens", "output_lens", "start_times", "ttfts", "e2els", "errors"}) {
    out[key] = Json::array();
  }
  for (const RequestDone& row : rows) {
    const bool ok = row.outcome == Outcome::completed;
    out["input_lens"].push_back(row.prompt_tokens);
    out["output_lens"].push_back(ok ? row.output_tokens : 0);
    out["start_times"].push_back(seconds(row.arrival));
    out["ttfts"].push_back(ok ? seconds(row.first_token - row.arrival) : 0.0);
    out["e2els"].push_back(ok ? seconds(row.last_token - row.arrival) : 0.0);
    out["errors"].push_back(ok ? Json("") : Json(name(row.outcome)));
  }
  return out;
}

constexpr const char* item_columns[] = {"images", "audio_s", "video"};

RequestsCsv::RequestsCsv(std::ostream& out, std::string name, RequestsCsvOptions options)
    : out_(out, std::move(name)), options_(std::move(options)) {
  out_ << "id,class,session,replica,prefill_replica,outcome,arrival_s,prompt_tokens,output_tokens,"
          "cached_tokens,preemptions,priority,queue_s,ttft_s,tpot_s,e2e_s";
  if (options_.speculates) out_ << ",rounds,drafted_tokens,accepted_tokens";
  if (options_.tiers) out_ << ",tier_tokens,load_s";
  if (options_.clients) out_ << ",attempt,origin";
  if (options_.tenants) out_ << ",tenant";
  if (options_.held) out_ << ",held_s";
  if (options_.adapters) out_ << ",adapter";
  for (const char* column : item_columns)
    if (options_.items) out_ << "," << column;
  out_ << "\n";
}

/// A list of each kind: [[1280,720]], [12.5], [{"frames":16,"height":360,"width":640}].
void RequestsCsv::write_items(const RequestDone& done) {
  Json lists = Json::object();
  for (const char* column : item_columns) lists[column] = Json::array();
  for (const std::int32_t each : done.item_kinds) {
    const Json item = options_.items(each);
    lists[item.items()[0].text()].push_back(item.items()[1]);
  }
  for (const char* column : item_columns) {
    const Json& list = *lists.find(column);
    out_ << "," << (list.items().empty() ? std::string() : csv_cell(dump_json(list)));
  }
}

void RequestsCsv::on_done(const RequestDone& done) {
  const auto number = [&](std::int32_t value) {
    if (value >= 0) out_ << value;
    out_ << ",";
  };
  const auto span = [&](Picoseconds from, Picoseconds to, const char* separator) {
    if (from != never && to != never) out_.seconds(to - from);
    out_ << separator;
  };
  out_ << done.id << ",";
  const std::vector<std::string>& classes = options_.classes;
  if (static_cast<std::size_t>(done.klass) < classes.size()) {
    out_ << csv_cell(classes[static_cast<std::size_t>(done.klass)]);
  } else {
    out_ << done.klass;
  }
  out_ << ",";
  number(done.session);
  number(done.replica < 0 ? -1 : done.replica + 1);  // from 1, as scripts count
  number(done.prefill_replica < 0 ? -1 : done.prefill_replica + 1);
  out_ << name(done.outcome) << ",";
  out_.seconds(done.arrival) << "," << done.prompt_tokens << "," << done.output_tokens << ","
                             << done.cached_tokens << "," << done.preemptions << ","
                             << done.priority << ",";
  span(done.queued, done.scheduled, ",");
  span(done.arrival, done.first_token, ",");
  if (done.outcome == Outcome::completed && done.output_tokens > 1) out_ << tpot_s(done);
  out_ << ",";
  span(done.arrival, done.last_token, "");
  if (options_.speculates)
    out_ << "," << done.rounds << "," << done.drafted_tokens << "," << done.accepted_tokens;
  if (options_.tiers) {
    out_ << "," << done.tier_tokens << ",";
    out_.seconds(done.load);
  }
  if (options_.clients)
    out_ << "," << done.attempt << "," << (done.origin >= 0 ? done.origin : done.id);
  if (options_.tenants) {
    out_ << ",";
    if (done.tenant >= 0) out_ << done.tenant;
  }
  if (options_.held) {
    out_ << ",";
    out_.seconds(done.held);
  }
  if (options_.adapters) out_ << "," << done.adapter;
  if (options_.items) write_items(done);
  out_ << "\n";
}

// --- vLLM's benchmark

void VllmBench::on_tokens(std::int32_t id, std::int32_t, Picoseconds now) {
  Answer& answer = answers_[id];
  if (answer.last != never) answer.gaps.push_back(now - answer.last);
  answer.last = now;
}

void VllmBench::on_done(const RequestDone& done) {
  TokenObserver::on_done(done);
  done_.push_back(done);
}

namespace {

/// Traffic as the command line of vLLM's benchmark would have had it.
void add_traffic(Json& out, const VllmBenchOptions& options) {
  const auto number = [](const std::optional<double>& value) {
    if (!value) return Json();
    return std::isfinite(*value) ? Json(*value) : Json("inf");
  };
  out["request_rate"] = number(options.request_rate);
  out["burstiness"] = number(options.burstiness);
  out["max_concurrency"] = options.max_concurrency ? Json(*options.max_concurrency) : Json();
}

void add_totals(Json& out, const Summary& summary, std::int64_t ended) {
  const double all = static_cast<double>(summary.prompt_tokens + summary.output_tokens);
  out["duration"] = summary.duration_s;
  out["completed"] = summary.completed;
  out["failed"] = ended - summary.completed;
  out["total_input_tokens"] = summary.prompt_tokens;
  out["total_output_tokens"] = summary.output_tokens;
  out["request_throughput"] = summary.requests_per_s;
  out["request_goodput"] = summary.goodput_per_s ? Json(*summary.goodput_per_s) : Json();
  out["output_throughput"] = summary.output_tokens_per_s;
  out["total_token_throughput"] = summary.duration_s > 0 ? all / summary.duration_s : 0.0;
}

}  // namespace

Json VllmBench::result(const Summary& summary, const VllmBenchOptions& options) const {
  std::vector<RequestDone> rows = done_;
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  Json out = Json::object();
  out["date"] = "";  // the same run gives the same bytes
  out["endpoint_type"] = "rooflua";
  out["backend"] = "rooflua";
  out["label"] = options.label;
  out["model_id"] = options.model;
  out["tokenizer_id"] = options.model;
  out["num_prompts"] = summary.requests;
  add_traffic(out, options);
  add_totals(out, summary, static_cast<std::int64_t>(rows.size()));
  for (const char* key :
       {"input_lens", "output_lens", "ttfts", "itls", "start_times", "generated_texts", "errors"}) {
    out[key] = Json::array();
  }
  for (const RequestDone& row : rows) {
    const bool ok = row.outcome == Outcome::completed;
    Json itl = Json::array();
    if (const auto found = answers_.find(row.id); ok && found != answers_.end()) {
      for (const Picoseconds gap : found->second.gaps) itl.push_back(seconds(gap));
    }
    out["input_lens"].push_back(row.prompt_tokens);
    out["output_lens"].push_back(ok ? row.output_tokens : 0);
    out["ttfts"].push_back(ok ? seconds(row.first_token - row.arrival) : 0.0);
    out["itls"].push_back(std::move(itl));
    out["start_times"].push_back(seconds(row.arrival));
    out["generated_texts"].push_back("");
    out["errors"].push_back(ok ? Json("") : Json(name(row.outcome)));
  }
  out["max_output_tokens_per_s"] = summary.peak_output_tokens_per_s;
  out["max_concurrent_requests"] = summary.peak_concurrency;
  out["rtfx"] = 0.0;
  statistics_ms(out, "ttft", summary.ttft_s);
  statistics_ms(out, "tpot", summary.tpot_s);
  statistics_ms(out, "itl", summary.itl_s);
  statistics_ms(out, "e2el", summary.e2e_s);
  return out;
}

}  // namespace rooflua
