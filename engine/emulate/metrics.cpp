#include "emulate/metrics.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "base/fields.h"

namespace rooflua::emulate {

namespace {

constexpr std::string_view quantity_names[quantity_count] = {
    "running",       "waiting",        "kv_used_frac", "used_tokens", "total_tokens",
    "total_blocks",  "block_tokens",   "one",          "preemptions", "prompt_tokens",
    "output_tokens", "prefix_queries", "prefix_hits",  "requests",    "finished",
    "aborted",       "ttft_s",         "itl_s",        "tpot_s",      "e2e_s",
    "queue_s",       "prefill_s",      "decode_s",     "inference_s", "prompt_length",
    "output_length", "max_tokens"};

Quantity quantity_named(const std::string& word, const std::string& where) {
  const auto* found = std::find(std::begin(quantity_names), std::end(quantity_names), word);
  if (found == std::end(quantity_names)) {
    throw Error(where, unknown_name("quantity", word,
                                    std::vector<std::string>(std::begin(quantity_names),
                                                             std::end(quantity_names))));
  }
  return static_cast<Quantity>(found - std::begin(quantity_names));
}

/// The labels of an object, in its order.
Labels labels_in(const Fields& object) {
  Labels out;
  for (const Json::Member& each : object.object().members())
    out.emplace_back(each.key, each.value.text());
  return out;
}

void replace(std::string& text, std::string_view what, const std::string& with) {
  if (const std::size_t at = text.find(what); at != std::string::npos)
    text.replace(at, what.size(), with);
}

}  // namespace

Metrics::Metrics(const Json& told, std::string model, std::int32_t replicas)
    : model_(std::move(model)), observed_(static_cast<std::size_t>(replicas)) {
  const Fields fields(told, "metrics");
  for (const Fields& each : fields.tables("families")) {
    Family family;
    family.name = each.need_text("name");
    family.type = each.need_text("type");
    family.help = each.need_text("help");
    family.quantity = quantity_named(each.need_text("quantity"), "metrics: " + family.name);
    family.buckets = each.numbers("buckets");
    if (const auto labels = each.table("labels")) family.labels = labels_in(*labels);
    each.finish();
    if (family.type == "histogram") {
      for (Observed& own : observed_) own.histograms[family.quantity].emplace_back(family.buckets);
    }
    families_.push_back(std::move(family));
  }
  labels_ = labels_in(fields.need_table("labels"));
  unused_blocks_ = fields.small_integer("unused_blocks").value_or(0);
  for (Observed& own : observed_) {
    for (const char* reason : {"stop", "length", "abort"}) own.finished[reason] = 0;
  }
}

double& Metrics::count(std::int32_t replica, Quantity quantity) {
  return observed_[static_cast<std::size_t>(replica)].counts[static_cast<std::size_t>(quantity)];
}

void Metrics::observe(std::int32_t replica, Quantity quantity, double value) {
  auto& all = observed_[static_cast<std::size_t>(replica)].histograms;
  const auto found = all.find(quantity);
  if (found == all.end()) return;
  for (Histogram& each : found->second) each.observe(value);
}

void Metrics::first_token(std::int32_t replica, double ttft_s, std::int32_t prompt_tokens,
                          std::int32_t cached_tokens) {
  observe(replica, Quantity::ttft_s, ttft_s);
  count(replica, Quantity::prompt_tokens) += prompt_tokens;
  count(replica, Quantity::prefix_queries) += prompt_tokens;
  count(replica, Quantity::prefix_hits) += cached_tokens;
}

void Metrics::tokens(std::int32_t replica, std::int32_t tokens) {
  count(replica, Quantity::output_tokens) += tokens;
}

void Metrics::gap(std::int32_t replica, double itl_s) {
  observe(replica, Quantity::itl_s, itl_s);
}

void Metrics::preempted(std::int32_t replica) {
  count(replica, Quantity::preemptions) += 1;
}

void Metrics::ended(const Ended& request) {
  const std::int32_t replica = request.replica;
  if (replica < 0) return;
  count(replica, Quantity::requests) += 1;
  Observed& own = observed_[static_cast<std::size_t>(replica)];
  own.finished[request.reason] += 1;
  if (std::string_view(request.reason) == "abort") count(replica, Quantity::aborted) += 1;
  if (request.last == never || request.scheduled == never) return;
  observe(replica, Quantity::e2e_s, seconds(request.last - request.arrival));
  observe(replica, Quantity::queue_s, seconds(request.scheduled - request.queued));
  observe(replica, Quantity::prefill_s, seconds(request.first - request.scheduled));
  observe(replica, Quantity::decode_s, seconds(request.last - request.first));
  observe(replica, Quantity::inference_s, seconds(request.last - request.scheduled));
  observe(replica, Quantity::prompt_length, request.prompt_tokens);
  observe(replica, Quantity::output_length, request.output_tokens);
  if (request.output_tokens > 1)
    observe(replica, Quantity::tpot_s,
            seconds(request.last - request.first) / (request.output_tokens - 1));
  if (request.max_tokens > 0) observe(replica, Quantity::max_tokens, request.max_tokens);
}

double Metrics::now(const Simulation& simulation, std::int32_t index, Quantity quantity) const {
  const Replica& replica = simulation.replica(index);
  const ReplicaView& view = replica.view();
  const double used = replica.kv().used_blocks(), total = replica.kv().total_blocks();
  const double block = replica.config().block_size;
  switch (quantity) {
    case Quantity::running:
      return view.seats;
    case Quantity::waiting:
      return replica.queued();
    case Quantity::kv_used_frac:
      return total > 0 ? used / total : 0;
    case Quantity::used_tokens:
      return used * block;
    case Quantity::total_tokens:
      return (total + unused_blocks_) * block;
    case Quantity::total_blocks:
      return total + unused_blocks_;
    case Quantity::block_tokens:
      return block;
    case Quantity::one:
      return 1;
    default:
      return observed_[static_cast<std::size_t>(index)].counts[static_cast<std::size_t>(quantity)];
  }
}

Labels Metrics::labels_of(const Simulation& simulation, std::int32_t index,
                          const Family& family) const {
  Labels out = labels_;
  out.insert(out.end(), family.labels.begin(), family.labels.end());
  const Replica& replica = simulation.replica(index);
  const std::int64_t blocks = replica.kv().total_blocks() + unused_blocks_;
  const std::int64_t block = replica.config().block_size;
  for (auto& [key, text] : out) {
    replace(text, "%model", model_);
    replace(text, "%replica", std::to_string(index));
    replace(text, "%blocks", std::to_string(blocks));
    replace(text, "%block_tokens", std::to_string(block));
    replace(text, "%kv_tokens", std::to_string(blocks * block));
  }
  return out;
}

void Metrics::write(const Simulation& simulation, std::int32_t only, Exposition& out) const {
  std::map<Quantity, std::size_t> seen;  // families with the quantity so far
  for (const Family& family : families_) {
    out.begin(family.name, family.type, family.help);
    const std::size_t place = family.type == "histogram" ? seen[family.quantity]++ : 0;
    for (std::int32_t i = 0; i < simulation.replica_count(); ++i) {
      if (only >= 0 && i != only) continue;
      const Observed& own = observed_[static_cast<std::size_t>(i)];
      const Labels labels = labels_of(simulation, i, family);
      if (family.type == "histogram") {
        out.add(labels, own.histograms.at(family.quantity)[place]);
      } else if (family.quantity == Quantity::finished) {
        for (const auto& [reason, number] : own.finished) {
          Labels with = labels;
          with.emplace_back("finished_reason", reason);
          out.add(with, number);
        }
      } else {
        out.add(labels, now(simulation, i, family.quantity));
      }
    }
  }
}

}  // namespace rooflua::emulate
