#include "measure/record/sketch.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/power.h"

namespace rooflua {

namespace {

/// The quantiles at which a curve has points: evenly spaced on a percentile axis, and none that
/// stands for less than one value.
std::vector<double> shares_of(std::int64_t count) {
  std::vector<double> out;
  constexpr int per_nine = 24;
  for (int i = 0;; ++i) {
    const double q = 1 - power_of_ten(-static_cast<double>(i) / per_nine);
    if ((1 - q) * static_cast<double>(count) < 1 || i > 6 * per_nine) break;
    out.push_back(q);
  }
  return out;
}

Json curve(const LogHistogram& values) {
  Json out = Json::array();
  const auto point = [&](double q) {
    Json pair = Json::array();
    pair.push_back(q);
    pair.push_back(values.quantile(q) * 1e-12);
    out.push_back(std::move(pair));
  };
  if (values.count() == 0) return out;
  for (const double q : shares_of(values.count())) point(q);
  // The largest value stands in the middle of its own share.
  Json largest = Json::array();
  largest.push_back(1 - 0.5 / static_cast<double>(values.count()));
  largest.push_back(static_cast<double>(values.max()) * 1e-12);
  out.push_back(std::move(largest));
  return out;
}

/// Bin by bin a / b; 0 where b is 0.
Json ratios(const std::vector<double>& a, const std::vector<double>& b) {
  Json out = Json::array();
  for (std::size_t i = 0; i < a.size(); ++i)
    out.push_back(i < b.size() && b[i] > 0 ? a[i] / b[i] : 0.0);
  return out;
}

/// Means over bins of that width; the last bin ends with the run.
Json means(const std::vector<double>& sums, Picoseconds width, Picoseconds end, double factor = 1) {
  Json out = Json::array();
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const Picoseconds begin = static_cast<Picoseconds>(i) * width;
    const Picoseconds lasts = end > begin ? std::min(width, end - begin) : width;
    out.push_back(sums[i] * factor / static_cast<double>(lasts));
  }
  return out;
}

}  // namespace

std::size_t TimeBins::bin_of(Picoseconds now) {
  while (now / width_ >= static_cast<Picoseconds>(most)) widen_to(2 * width_);
  const auto bin = static_cast<std::size_t>(now / width_);
  if (bin >= bins_.size()) bins_.resize(bin + 1);
  return bin;
}

void TimeBins::widen_to(Picoseconds width) {
  for (; width_ < width; width_ *= 2) {
    std::vector<double> half((bins_.size() + 1) / 2);
    for (std::size_t i = 0; i < bins_.size(); ++i) half[i / 2] += bins_[i];
    bins_ = std::move(half);
  }
}

void TimeBins::add(Picoseconds from, Picoseconds to, double value) {
  if (to <= from) return;
  const std::size_t last = bin_of(to - 1);  // first, because it may widen the bins
  for (std::size_t bin = bin_of(from); bin <= last; ++bin) {
    const Picoseconds begin = std::max(from, static_cast<Picoseconds>(bin) * width_);
    const Picoseconds end = std::min(to, static_cast<Picoseconds>(bin + 1) * width_);
    bins_[bin] += value * static_cast<double>(end - begin);
  }
}

void TimeBins::add_at(Picoseconds now, double amount) {
  bins_[bin_of(now)] += amount;
}

// --- Steps -----------------------------------------------------------------------------------

Amounts Amounts::of(const Batch& batch, const StepPrice& price) {
  Amounts out;
  out.steps = 1;
  out.tokens = batch.tokens;
  out.rows = batch.requests + batch.decode_tokens - batch.decodes;
  out.prompt_tokens = batch.tokens - batch.decode_tokens;
  out.group_tokens = batch.group_ranks > 1 ? batch.group_tokens : batch.tokens;
  out.contexts = batch.decode_context_tokens;
  out.time_s = price.time_s;
  for (std::int32_t i = 0; i < batch.prefill_count; ++i) {
    const double new_tokens = batch.prefills[i].new_tokens;
    out.pairs += new_tokens * (batch.prefills[i].context_tokens + (new_tokens + 1) / 2);
  }
  return out;
}

void Amounts::add(const Amounts& other) {
  steps += other.steps;
  tokens += other.tokens;
  rows += other.rows;
  prompt_tokens += other.prompt_tokens;
  group_tokens += other.group_tokens;
  contexts += other.contexts;
  pairs += other.pairs;
  time_s += other.time_s;
}

namespace {

SampledStep kept_step(const Batch& batch, const StepPrice& price, const Amounts& amounts) {
  SampledStep out;
  out.replica = batch.replica;
  out.amounts = amounts;
  out.time_s = price.time_s;
  out.own_s = price.own_s;
  out.group = GroupWork::of(batch);
  out.prefills.assign(batch.prefills, batch.prefills + batch.prefill_count);
  if (const std::int32_t* contexts = decode_contexts(batch))
    out.decode_contexts.assign(contexts, contexts + batch.decodes);
  out.drafts = DraftWork::of(batch);
  return out;
}

}  // namespace

void StepSurvey::add(const Batch& batch, const StepPrice& price) {
  if (batch.tokens == 0) return;
  const auto index = static_cast<std::size_t>(batch.replica);
  if (index >= totals_.size()) totals_.resize(index + 1);
  const Amounts amounts = Amounts::of(batch, price);
  totals_[index].add(amounts);
  ++steps_;
  if (batch.prefill_count > 0) keep_prompt(batch, price, amounts);
  busy_s_ += price.time_s;
  const auto passed = static_cast<std::int64_t>(std::ceil(busy_s_ / spacing_s_));
  if (passed <= moment_) return;
  kept_.push_back({moment_, passed - 1, steps_, kept_step(batch, price, amounts)});
  moment_ = passed;
  while (moment_ > most) thin();
}

/// Every prompt_stride_-th step with prompts; twice as far apart when there are too many.
void StepSurvey::keep_prompt(const Batch& batch, const StepPrice& price, const Amounts& amounts) {
  if (prompts_++ % prompt_stride_ != 0) return;
  kept_prompts_.push_back({0, -1, steps_, kept_step(batch, price, amounts)});
  if (std::ssize(kept_prompts_) <= most_prompts) return;
  std::vector<Kept> left;
  for (std::size_t i = 0; i < kept_prompts_.size(); i += 2)
    left.push_back(std::move(kept_prompts_[i]));
  kept_prompts_ = std::move(left);
  prompt_stride_ *= 2;
}

/// Drops every second moment, and the steps that hold none of the others.
void StepSurvey::thin() {
  std::vector<Kept> left;
  for (Kept& each : kept_) {
    each.first = (each.first + 1) / 2;  // old moment 2i is new moment i
    each.last = each.last / 2;
    if (each.first <= each.last) left.push_back(std::move(each));
  }
  kept_ = std::move(left);
  moment_ = (moment_ + 1) / 2;
  spacing_s_ *= 2;
}

std::vector<SampledStep> StepSurvey::steps() const {
  std::vector<SampledStep> out;
  std::set<std::int64_t> numbers;
  for (const Kept& each : kept_) {
    numbers.insert(each.number);
    out.push_back(each.step);
    out.back().weight = each.last - each.first + 1;
  }
  for (const Kept& each : kept_prompts_)
    if (!numbers.contains(each.number)) out.push_back(each.step);
  return out;
}

// --- Sketch ----------------------------------------------------------------------------------

void Sketch::on_arrival(const Request&, Picoseconds now) {
  origin_ = std::min(origin_, now);
}

void Sketch::on_step(const StepDone& step) {
  const auto index = static_cast<std::size_t>(step.replica);
  if (index >= blocks_.size()) blocks_.resize(index + 1);
  // With stages, steps overlap: each counts from the end of the one before it.
  const Picoseconds from = std::max(step.start, blocks_[index].until) - origin_;
  const Picoseconds to = step.end - origin_;
  blocks_[index].until = step.end;
  waiting_.add(from, to, step.waiting);
  running_.add(from, to, step.running);
  tokens_.add(from, to, step.batch->tokens);
  busy_.add(from, to, 1);
  blocks_[index].total = step.total_blocks;
  blocks_[index].used.add(from, to, step.used_blocks);
  output_.add_at(to, step.tokens_landed());
  last_ = std::max(last_, to);
  itl_.add(step.common_gap, step.common_gaps);
  for (const Picoseconds gap : step.other_gaps) itl_.add(gap);
}

void Sketch::on_done(const RequestDone& done) {
  plays_.on_done(done);
  if (done.outcome != Outcome::completed) return;
  ttft_.add(done.first_token - done.arrival);
  e2e_.add(done.last_token - done.arrival);
  if (done.output_tokens > 1)
    tpot_.add((done.last_token - done.first_token) / (done.output_tokens - 1));
}

Json Sketch::json() const {
  Json out = Json::object();
  out["quantiles"]["ttft_s"] = curve(ttft_);
  out["quantiles"]["tpot_s"] = curve(tpot_);
  out["quantiles"]["itl_s"] = curve(itl_);
  out["quantiles"]["e2e_s"] = curve(e2e_);
  if (Json plays = plays_.json(); !plays.is_null()) out["plays"] = std::move(plays);
  if (waiting_.empty()) return out;
  TimeBins ready = pools_.over_time(Lifecycle::ready, last_);
  TimeBins starting = pools_.over_time(Lifecycle::starting, last_);
  const Picoseconds width =
      std::max({waiting_.width(), output_.width(), ready.width(), starting.width()});
  TimeBins waiting = waiting_, running = running_, tokens = tokens_, busy = busy_, output = output_;
  for (TimeBins* each : {&waiting, &running, &tokens, &busy, &output, &ready, &starting})
    each->widen_to(width);
  Json& timeline = out["timeline"];
  timeline["bin_s"] = seconds(width);
  timeline["end_s"] = seconds(last_);
  timeline["waiting"] = means(waiting.sums(), width, last_);
  timeline["running"] = means(running.sums(), width, last_);
  timeline["step_tokens"] = ratios(tokens.sums(), busy.sums());
  timeline["output_tokens_per_s"] = means(output.sums(), width, last_, 1e12);
  if (!pools_.empty()) {
    timeline["ready"] = means(ready.sums(), width, last_);
    timeline["starting"] = means(starting.sums(), width, last_);
  }
  std::vector<double> used(waiting.sums().size());
  double total = 0;
  for (const Blocks& replica : blocks_) {
    TimeBins bins = replica.used;
    bins.widen_to(width);
    for (std::size_t i = 0; i < bins.sums().size() && i < used.size(); ++i)
      used[i] += bins.sums()[i];
    total += replica.total;
  }
  timeline["kv_used_frac"] = means(used, width, last_, total > 0 ? 1 / total : 0);
  return out;
}

}  // namespace rooflua
