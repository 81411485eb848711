#include "tests/reference/vllm_v1.h"

#include <algorithm>
#include <deque>
#include <stdexcept>
#include <tuple>

#include "base/random.h"
#include "tests/reference/block_pool.h"

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

namespace {

enum class Status { unseen, waiting, preempted, running, finished };

struct Request {
  const PlainRequest* given = nullptr;
  int id = -1;
  Status status = Status::unseen;
  int output = 0;        // tokens that landed
  int computed = 0;      // KV that exists or is in flight
  int under_way = 0;     // with stages only: sampled tokens in flight
  int placeholders = 0;  // async only: tokens in flight, drafts included
  int drafts = 0;        // that it brings to the next step
  int flight = 0;        // rows in flight that sample
  int true_output = 0;   // what the GPU knows: tokens and KV, those in flight as they will land
  int true_computed = 0;
  std::vector<int> blocks;
  std::vector<int> seat;    // blocks beside those of its tokens
  int hashed = 0;           // blocks of it that carry content
  std::vector<int> hashes;  // chain of its full blocks, as far as known
  bool prefilling = false;  // admitted, and its sequence is not complete yet
  bool admitted_before = false;
  int cached = 0, preemptions = 0;

  int num_tokens() const { return given->prompt + output; }
};

class VllmV1 : public Engine {
 public:
  VllmV1(const VllmConfig& config, const std::vector<PlainRequest>& requests)
      : config_(config), pool_(config.blocks, config.prefix_caching), requests_(requests.size()) {
    for (std::size_t id = 0; id < requests.size(); ++id) {
      requests_[id].given = &requests[id];
      requests_[id].id = static_cast<int>(id);
    }
  }

  void arrive(int id) override {
    Request& r = at(id);
    r.status = Status::waiting;
    waiting_.push_back(&r);
    sort_waiting();
  }

  Rows schedule(Ps now) override;
  void update(const Rows& rows) override;
  bool took_away() const override { return preempted_somebody_; }

  void report(History& history) const override {
    for (const Request& r : requests_) {
      Served& served = history.requests[static_cast<std::size_t>(r.id)];
      served.preemptions = r.preemptions;
      served.cached = r.cached;
      history.preemptions += r.preemptions;
      if (r.status != Status::finished) history.finished = false;
    }
    history.resume_hits = resume_hits_;
    history.ended_waiting = ended_waiting_;
  }

 private:
  Request& at(int id) { return requests_[static_cast<std::size_t>(id)]; }
  bool async() const { return config_.async_depth == 2 && !config_.stages.several(); }
  int ceil_blocks(int tokens) const {
    return (tokens + config_.block_size - 1) / config_.block_size;
  }

  void schedule_running();
  void schedule_waiting();
  int tokens_of_running(const Request& r) const;
  int stop_at(const Request& r) const;
  void run_on_gpu(Row& row);
  int accepted(const Request& r, int drafts, int output) const;
  void propose();
  bool allocate(Request& r, int tokens, const std::vector<int>& hits, bool is_waiting);
  std::vector<int> lookup(Request& r);
  void know_hashes(Request& r);
  void cache_blocks(Request& r, int tokens);
  Request* pick_victim();
  void preempt(Request& r);
  void free_blocks(Request& r);
  void sort_waiting();
  Row* row_of(const Request& r);

  VllmConfig config_;
  BlockPool pool_;
  std::vector<Request> requests_;
  std::deque<Request*> waiting_;
  std::vector<Request*> running_;  // in order of admission
  int budget_ = 0;
  Rows scheduled_;
  bool preempted_somebody_ = false;
  int resume_hits_ = 0, ended_waiting_ = 0;
};

// --- A1.2

Rows VllmV1::schedule(Ps) {
  budget_ = config_.max_num_batched_tokens;
  scheduled_.clear();
  preempted_somebody_ = false;
  schedule_running();
  // Cached at allocate time: those admitted in this very step can hit it.
  for (const Row& row : scheduled_) {
    Request& r = at(row.id);
    cache_blocks(r, std::min(r.computed + row.tokens, r.num_tokens()));
  }
  if (!preempted_somebody_) schedule_waiting();

  // computed += new for all scheduled, before the step runs
  for (Row& row : scheduled_) {
    Request& r = at(row.id);
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

int VllmV1::stop_at(const Request& r) const {
  return std::min(r.given->output, config_.max_model_len - r.given->prompt);
}

/// What the step will compute and return; the scheduler learns of it in update().
void VllmV1::run_on_gpu(Row& row) {
  Request& r = at(row.id);
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
int VllmV1::accepted(const Request& r, int drafts, int output) const {
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
  for (Request* r : running_) {
    const Row* row = row_of(*r);
    if (row == nullptr && async()) r->drafts = 0;
    if (row != nullptr && row->samples) r->drafts = config_.next_drafts(r->id, decodes);
  }
}

int VllmV1::tokens_of_running(const Request& r) const {
  int tokens = r.num_tokens() + r.drafts + r.placeholders - r.computed;
  const int threshold = config_.long_prefill_token_threshold;
  if (0 < threshold && threshold < tokens) tokens = threshold;
  return std::min({tokens, budget_, config_.max_model_len - 1 - r.computed});
}

/// Phase 1.
void VllmV1::schedule_running() {
  std::size_t i = 0;
  while (i < running_.size() && budget_ > 0) {
    Request& r = *running_[i];
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
      Request* victim = pick_victim();
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

/// Phase 2.
void VllmV1::schedule_waiting() {
  while (!waiting_.empty() && budget_ > 0) {
    if (static_cast<int>(running_.size()) >= config_.max_num_seqs) break;
    Request& r = *waiting_.front();
    if (r.under_way > 0) break;
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
    r.status = Status::running;
    r.computed = hit_tokens;
    r.prefilling = true;
    scheduled_.push_back({r.id, 0, tokens, false, false});
    budget_ -= tokens;
    cache_blocks(r, std::min(r.computed + tokens, r.num_tokens()));
  }
}

// --- A1.3

bool VllmV1::allocate(Request& r, int tokens, const std::vector<int>& hits, bool is_waiting) {
  const int hit_blocks = static_cast<int>(hits.size());
  const auto idle_hits = static_cast<int>(std::count_if(
      hits.begin(), hits.end(), [&](int block) { return pool_.references(block) == 0; }));
  const int held = static_cast<int>(r.blocks.size());
  const int lookahead = is_waiting ? 0 : config_.lookahead;
  const int whole_tokens = std::min(
      r.computed + hit_blocks * config_.block_size + tokens + lookahead, config_.max_model_len);
  const int fresh = std::max(0, ceil_blocks(whole_tokens) - held - hit_blocks);
  int watermark = 0;
  if (is_waiting && !running_.empty())
    watermark = static_cast<int>(config_.watermark * config_.blocks);
  const int seat = is_waiting ? config_.seat_blocks : 0;
  if (is_waiting && config_.reserve_full_isl) {
    const int whole = ceil_blocks(r.num_tokens()) - hit_blocks;
    if (whole + idle_hits + seat + watermark > pool_.free_blocks()) return false;
  }
  if (fresh + idle_hits + seat + watermark > pool_.free_blocks()) return false;

  for (int block : hits) {
    pool_.touch(block);
    r.blocks.push_back(block);
  }
  r.hashed += hit_blocks;
  for (int k = 0; k < fresh; ++k) r.blocks.push_back(pool_.pop());
  for (int k = 0; k < seat; ++k) r.seat.push_back(pool_.pop());
  return true;
}

// --- A1.4

Request* VllmV1::pick_victim() {
  if (!config_.by_priority) return running_.back();
  return *std::max_element(running_.begin(), running_.end(), [](Request* a, Request* b) {
    return std::tie(a->given->priority, a->given->arrival) <
           std::tie(b->given->priority, b->given->arrival);
  });
}

void VllmV1::preempt(Request& r) {
  free_blocks(r);
  r.computed = 0;
  r.prefilling = false;
  r.drafts = 0;
  r.status = Status::preempted;
  const int in_flight = r.output + r.flight;
  const bool done_anyway =
      in_flight >= r.given->max_new || r.given->prompt + in_flight >= config_.max_model_len;
  if (!done_anyway) r.preemptions += 1;
  preempted_somebody_ = true;
  if (done_anyway && config_.stages.several()) return;  // its last token lands without a seat
  waiting_.push_front(&r);
  sort_waiting();
}

/// A heap on (priority, arrival); first come first served is the order of the deque.
void VllmV1::sort_waiting() {
  if (!config_.by_priority) return;
  std::sort(waiting_.begin(), waiting_.end(), [](Request* a, Request* b) {
    return std::tie(a->given->priority, a->given->arrival, a->id) <
           std::tie(b->given->priority, b->given->arrival, b->id);
  });
}

Row* VllmV1::row_of(const Request& r) {
  for (Row& row : scheduled_)
    if (row.id == r.id) return &row;
  return nullptr;
}

// --- A1.5

void VllmV1::know_hashes(Request& r) {
  const int size = config_.block_size;
  while ((static_cast<int>(r.hashes.size()) + 1) * size <= r.num_tokens()) {
    const auto from = r.given->tokens.begin() + static_cast<std::ptrdiff_t>(r.hashes.size()) * size;
    const int parent = r.hashes.empty() ? -1 : r.hashes.back();
    r.hashes.push_back(pool_.hash(parent, std::vector<Token>(from, from + size)));
  }
}

/// The longest cached prefix, from the left until the first miss, at most num_tokens - 1 tokens.
std::vector<int> VllmV1::lookup(Request& r) {
  std::vector<int> hits;
  if (!config_.prefix_caching) return hits;
  know_hashes(r);
  const auto most = static_cast<std::size_t>((r.num_tokens() - 1) / config_.block_size);
  for (std::size_t j = 0; j < most; ++j) {
    const int block = pool_.find(r.hashes[j]);
    if (block < 0) break;
    hits.push_back(block);
  }
  if (config_.drops_last_hit && !hits.empty()) hits.pop_back();
  return hits;
}

/// The blocks that are full with the first `tokens` tokens carry their content from now on.
void VllmV1::cache_blocks(Request& r, int tokens) {
  if (!config_.prefix_caching) return;
  know_hashes(r);
  for (; (r.hashed + 1) * config_.block_size <= tokens; ++r.hashed) {
    const auto j = static_cast<std::size_t>(r.hashed);
    pool_.set_hash(r.blocks[j], r.hashes[j]);
  }
}

void VllmV1::free_blocks(Request& r) {
  pool_.free_all(r.blocks);
  pool_.free_all(r.seat);
  r.blocks.clear();
  r.seat.clear();
  r.hashed = 0;
}

// --- A1.6

void VllmV1::update(const Rows& rows) {
  for (const Row& row : rows) {
    if (!row.samples) continue;
    Request& r = at(row.id);
    if (r.status == Status::finished) continue;  // while this step was planned or ran
    if (config_.stages.several()) r.under_way -= 1;
    r.flight -= 1;
    // rejected drafts: their KV is overwritten
    const int kept = row.prefill || !config_.speculates() ? 0 : accepted(r, row.drafts, r.output);
    if (kept != row.accepted) throw std::logic_error("the GPU and the scheduler disagree");
    const int rejected = row.drafts - kept;
    if (r.status == Status::running) r.computed -= rejected;
    if (async()) r.placeholders -= rejected;
    bool stopped = false;
    int appended = 0;
    for (; appended < 1 + kept && !stopped; ++appended) {
      r.output += 1;
      stopped = r.output >= r.given->output || r.num_tokens() >= config_.max_model_len;
    }
    if (async()) r.placeholders -= appended;
    // async: the token is known only now; nothing behind an end token counts
    if (async() && r.status == Status::running)
      cache_blocks(r, stopped ? r.computed - r.placeholders : std::min(r.computed, r.num_tokens()));
    if (!stopped) continue;
    if (r.status == Status::running) {
      running_.erase(std::find(running_.begin(), running_.end(), &r));
      free_blocks(r);
    } else {
      const auto place = std::find(waiting_.begin(), waiting_.end(), &r);
      if (place != waiting_.end()) waiting_.erase(place);
      ended_waiting_ += r.output < r.given->max_new;
    }
    r.status = Status::finished;
  }
}

}  // namespace

History run_vllm_v1(const VllmConfig& config, const std::vector<PlainRequest>& requests,
                    const Price& price) {
  VllmV1 engine(config, requests);
  if (config.stages.several()) return run_stages(engine, requests, config.stages, price);
  return run(engine, requests, config.async_depth, price);
}

}  // namespace rooflua::reference
