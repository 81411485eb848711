#include "tests/reference/engines/vllm_v1.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "base/random.h"
#include "tests/reference/engines/vllm_v1_engine.h"

namespace rooflua::reference {

int VllmConfig::next_drafts(int id, int decodes) const {
  const int k = decodes > crowd ? crowd_drafts : drafts;
  return mixed ? std::min(k, id % (drafts + 1)) : k;
}

std::vector<double> VllmConfig::curve_of(int id) const {
  std::vector<double> curve = rates;
  for (double& a : curve) a = id % 3 == 0 ? a : id % 3 == 1 ? a * a : a * a * a;
  return curve;
}

// --- A1.2

Rows VllmV1::schedule(Ps) {
  budget_ = config_.max_num_batched_tokens;
  scheduled_.clear();
  preempted_somebody_ = false;
  schedule_running();
  // Cached at allocate time: those admitted in this very step can hit it.
  for (const Row& row : scheduled_) {
    VllmRequest& r = at(row.id);
    cache_blocks(r, std::min(r.computed + row.tokens, r.num_tokens()));
  }
  if (!preempted_somebody_) schedule_waiting();

  // computed += new for all scheduled, before the step runs
  for (Row& row : scheduled_) {
    VllmRequest& r = at(row.id);
    row.context = r.computed;
    row.prefill = r.prefilling;
    row.drafts = std::max(0, row.tokens + r.computed - r.num_tokens() - r.placeholders);
    if (row.prefill) row.drafts = 0;
    r.computed += row.tokens;
    row.samples = r.computed - row.drafts == r.num_tokens() + r.placeholders;
    if (row.samples) r.prefilling = false;
    if (row.samples && async()) r.placeholders += 1 + row.drafts;
    r.flight += row.samples;
    run_on_gpu(row);
    if (row.samples && config_.stages.several()) r.under_way += 1;
  }
  propose();
  return scheduled_;
}

int VllmV1::stop_at(const VllmRequest& r) const {
  return std::min(r.given->output, config_.max_model_len - r.given->prompt);
}

/// What the step will compute and return; the scheduler learns of it in update().
void VllmV1::run_on_gpu(Row& row) {
  VllmRequest& r = at(row.id);
  if (!config_.speculates()) return;
  if (row.prefill) {
    r.true_computed = row.context + row.tokens;
    r.true_output += row.samples;
    return;
  }
  row.context = r.true_computed;
  if (r.true_output >= stop_at(r)) {
    row.landed = 0;
  } else {
    row.accepted = accepted(r, row.drafts, r.true_output);
    row.landed = std::min(1 + row.accepted, stop_at(r) - r.true_output);
    r.true_output += row.landed;
  }
  r.true_computed += 1 + row.accepted;
}

/// Draws one after the other from the request's stream; the draft at depth j stands for output
/// position output + j - 1.
int VllmV1::accepted(const VllmRequest& r, int drafts, int output) const {
  const std::vector<double> curve = config_.curve_of(r.id);
  RandomStream stream =
      random_stream(config_.acceptance_seed, "acceptance", static_cast<std::uint64_t>(r.id));
  for (int position = 0; position < output; ++position) uniform(stream);
  int count = 0;
  while (count < drafts && count < static_cast<int>(curve.size()) &&
         uniform(stream) < curve[static_cast<std::size_t>(count)])
    ++count;
  return count;
}

/// Drafts for the next step. Async: placeholders, which exist only while a request is in every
/// step.
void VllmV1::propose() {
  if (!config_.speculates() || scheduled_.empty()) return;
  int decodes = 0;
  for (const Row& row : scheduled_) decodes += !row.prefill;
  for (VllmRequest* r : running_) {
    const Row* row = row_of(*r);
    if (row == nullptr && async()) r->drafts = 0;
    if (row != nullptr && row->samples) r->drafts = config_.next_drafts(r->id, decodes);
  }
}

int VllmV1::tokens_of_running(const VllmRequest& r) const {
  int tokens = r.num_tokens() + r.drafts + r.placeholders - r.computed;
  const int threshold = config_.long_prefill_token_threshold;
  if (0 < threshold && threshold < tokens) tokens = threshold;
  return std::min({tokens, budget_, config_.max_model_len - 1 - r.computed});
}

/// Phase 1.
void VllmV1::schedule_running() {
  std::size_t i = 0;
  while (i < running_.size() && budget_ > 0) {
    VllmRequest& r = *running_[i];
    // already enough in flight to reach max_output_tokens: keeps its seat, is not scheduled
    if (async() && r.placeholders > 0 &&
        r.computed + 2 - r.placeholders >= r.given->prompt + r.given->max_new) {
      i += 1;
      continue;
    }
    const int tokens = tokens_of_running(r);
    if (tokens == 0) {
      i += 1;
      continue;
    }
    while (!allocate(r, tokens, {}, false)) {
      VllmRequest* victim = pick_victim();
      const auto place = std::find(running_.begin(), running_.end(), victim);
      if (place < running_.begin() + static_cast<std::ptrdiff_t>(i)) i -= 1;
      running_.erase(place);
      if (Row* row = row_of(*victim)) {
        cache_blocks(*victim, std::min(victim->computed, victim->num_tokens()));
        budget_ += row->tokens;
        scheduled_.erase(scheduled_.begin() + (row - scheduled_.data()));
      }
      preempt(*victim);
      if (victim == &r) return;
    }
    scheduled_.push_back({r.id, 0, tokens, false, false});
    budget_ -= tokens;
    i += 1;
  }
}

/// scheduled_loras has max_loras, and this one is not among them.
bool VllmV1::exceeds_adapters(int adapter) const {
  std::set<int> scheduled;
  for (const Row& row : scheduled_)
    scheduled.insert(requests_[static_cast<std::size_t>(row.id)].given->adapter);
  scheduled.erase(0);
  return adapter > 0 && static_cast<int>(scheduled.size()) >= config_.max_loras &&
         !scheduled.contains(adapter);
}

/// Phase 2.
void VllmV1::schedule_waiting() {
  std::deque<VllmRequest*> skipped;
  while (!waiting_.empty() && budget_ > 0) {
    if (static_cast<int>(running_.size()) >= config_.max_num_seqs) break;
    VllmRequest& r = *waiting_.front();
    if (r.under_way > 0) break;
    if (exceeds_adapters(r.given->adapter)) {
      skipped.push_back(&r);
      waiting_.pop_front();
      continue;
    }
    const std::vector<int> hits = lookup(r);
    const int hit_tokens = static_cast<int>(hits.size()) * config_.block_size;
    int tokens = r.num_tokens() - hit_tokens;
    const int threshold = config_.long_prefill_token_threshold;
    if (0 < threshold && threshold < tokens) tokens = threshold;
    if (!config_.chunked_prefill && tokens > budget_) break;
    tokens = std::min(tokens, budget_);
    if (!allocate(r, tokens, hits, true)) break;

    waiting_.pop_front();
    running_.push_back(&r);
    if (!r.admitted_before) r.cached = hit_tokens;
    if (r.admitted_before && hit_tokens > 0) resume_hits_ += 1;
    r.admitted_before = true;
    r.status = VllmStatus::running;
    r.computed = hit_tokens;
    r.prefilling = true;
    scheduled_.push_back({r.id, 0, tokens, false, false});
    budget_ -= tokens;
    cache_blocks(r, std::min(r.computed + tokens, r.num_tokens()));
  }
  waiting_.insert(waiting_.begin(), skipped.begin(), skipped.end());
}

Row* VllmV1::row_of(const VllmRequest& r) {
  for (Row& row : scheduled_)
    if (row.id == r.id) return &row;
  return nullptr;
}

// --- A1.6

void VllmV1::update(const Rows& rows) {
  for (const Row& row : rows) {
    if (!row.samples) continue;
    VllmRequest& r = at(row.id);
    if (r.status == VllmStatus::finished) continue;  // while this step was planned or ran
    if (config_.stages.several()) r.under_way -= 1;
    r.flight -= 1;
    // rejected drafts: their KV is overwritten
    const int kept = row.prefill || !config_.speculates() ? 0 : accepted(r, row.drafts, r.output);
    if (kept != row.accepted) throw std::logic_error("the GPU and the scheduler disagree");
    const int rejected = row.drafts - kept;
    if (r.status == VllmStatus::running) r.computed -= rejected;
    if (async()) r.placeholders -= rejected;
    bool stopped = false;
    int appended = 0;
    for (; appended < 1 + kept && !stopped; ++appended) {
      r.output += 1;
      stopped = r.output >= r.given->output || r.num_tokens() >= config_.max_model_len;
    }
    if (async()) r.placeholders -= appended;
    // async: the token is known only now; nothing after an end token counts
    if (async() && r.status == VllmStatus::running)
      cache_blocks(r, stopped ? r.computed - r.placeholders : std::min(r.computed, r.num_tokens()));
    if (!stopped) continue;
    if (r.status == VllmStatus::running) {
      running_.erase(std::find(running_.begin(), running_.end(), &r));
      free_blocks(r);
    } else {
      const auto place = std::find(waiting_.begin(), waiting_.end(), &r);
      if (place != waiting_.end()) waiting_.erase(place);
      ended_waiting_ += r.output < r.given->max_new;
    }
    r.status = VllmStatus::finished;
  }
}

History run_vllm_v1(const VllmConfig& config, const std::vector<PlainRequest>& requests,
                    const Price& price) {
  VllmV1 engine(config, requests);
  if (config.stages.several()) return run_stages(engine, requests, config.stages, price);
  return run(engine, requests, config.async_depth, price);
}

}  // namespace rooflua::reference
