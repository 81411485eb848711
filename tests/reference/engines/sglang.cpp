#include "tests/reference/engines/sglang.h"

#include <algorithm>
#include <deque>

namespace rooflua::reference {

namespace {

constexpr int clip_max_new_tokens = 4096;
constexpr int retract_decode_steps = 20;
constexpr int page = 1;
constexpr double ratio_init = 0.7, ratio_min_factor = 0.14, ratio_decay_steps = 600;

struct Request {
  const PlainRequest* given = nullptr;
  int id = -1;
  int computed = 0;  // KV, in flight included
  int output = 0;    // tokens, in flight included
  int landed = 0;
  int retractions = 0;
  bool present = false;  // arrived and not finished

  int num_tokens() const { return given->prompt + output; }
  int extend() const { return num_tokens() - computed; }
  bool draining() const { return output >= given->max_new; }
  int max_new_left() const { return std::min(given->max_new - output, clip_max_new_tokens); }
};

enum class AddResult { go_on, no_token, other };

class Sglang : public Engine {
 public:
  Sglang(const SglangConfig& config, const std::vector<PlainRequest>& requests)
      : config_(config), free_(config.pool_tokens), requests_(requests.size()) {
    for (std::size_t id = 0; id < requests.size(); ++id) {
      requests_[id].given = &requests[id];
      requests_[id].id = static_cast<int>(id);
    }
    init_ratio_ = std::min(ratio_init * config.schedule_conservativeness, 1.0);
    min_ratio_ = std::min(init_ratio_ * ratio_min_factor, 1.0);
    ratio_ = init_ratio_;
  }

  void arrive(int id) override {
    at(id).present = true;
    waiting_.push_back(&at(id));
  }

  Rows schedule(Ps now) override;
  void update(const Rows& rows) override;
  bool took_away() const override { return retracted_; }

  void report(History& history) const override {
    for (const Request& r : requests_) {
      history.requests[static_cast<std::size_t>(r.id)].preemptions = r.retractions;
      history.preemptions += r.retractions;
      if (r.present || r.landed < r.given->output) history.finished = false;
    }
    history.ended_waiting = ended_waiting_;
  }

 private:
  /// PrefillAdder's budgets.
  struct Adder {
    double rem_total = 0;
    int rem_input = 0;
    int rem_chunk = 0;
    std::vector<Request*> can_run;
    Rows rows;

    void add(Request& r, int extend, int reserve, int seat) {
      can_run.push_back(&r);
      rem_total -= seat;
      rows.push_back({r.id, r.computed, extend, true, extend == r.extend()});
      rem_total -= extend + reserve;
      rem_input -= extend;
      rem_chunk -= extend;
    }
    AddResult state() const {
      if (rem_total <= 0) return AddResult::no_token;
      if (rem_input <= 0 || rem_chunk <= 0) return AddResult::other;
      return AddResult::go_on;
    }
  };

  Request& at(int id) { return requests_[static_cast<std::size_t>(id)]; }
  Rows new_prefill_batch();
  AddResult add_one(Adder& adder, Request& r);
  Rows decode_running();
  void retract(std::vector<Request*>& batch);
  void advance(const Row& row);

  SglangConfig config_;
  int free_;
  std::vector<Request> requests_;
  std::deque<Request*> waiting_;
  std::vector<Request*> running_;
  std::vector<Request*> last_extend_;  // of the last batch, not yet merged into running
  Request* chunked_ = nullptr;
  bool batch_is_full_ = false, shrunk_ = false, retracted_ = false;
  double init_ratio_ = 0, min_ratio_ = 0, ratio_ = 0;
  int ended_waiting_ = 0;
};

/// get_next_batch_to_run
Rows Sglang::schedule(Ps) {
  retracted_ = false;
  if (shrunk_) batch_is_full_ = false;
  shrunk_ = false;
  // (1) the last extend batch, without the chunked request, joins running
  running_.insert(running_.end(), last_extend_.begin(), last_extend_.end());
  last_extend_.clear();
  if (running_.empty() && waiting_.empty() && chunked_ == nullptr) {
    ratio_ = init_ratio_;  // idle
    return {};
  }
  // (2) prefill first, (3) else decode
  Rows rows = new_prefill_batch();
  if (rows.empty()) rows = decode_running();
  for (const Row& row : rows) advance(row);
  return rows;
}

void Sglang::advance(const Row& row) {
  Request& r = at(row.id);
  r.computed += row.tokens;
  free_ -= row.tokens;
  if (row.samples) r.output += 1;
}

Rows Sglang::new_prefill_batch() {
  if ((batch_is_full_ || waiting_.empty()) && chunked_ == nullptr) return {};
  const int allocatable = config_.max_running_requests - static_cast<int>(running_.size());
  if (allocatable <= 0 && chunked_ == nullptr) {
    batch_is_full_ = true;
    return {};
  }
  Adder adder;
  int future = 0;
  for (const Request* r : running_) future += r->max_new_left();
  adder.rem_total = free_ - future * ratio_;
  adder.rem_input = config_.max_prefill_tokens;
  adder.rem_chunk = config_.chunked_prefill_size;

  if (chunked_ != nullptr) {  // goes first
    Request& r = *chunked_;
    const int extend = std::min(r.extend(), adder.rem_chunk);
    const bool truncated = extend < r.extend();
    adder.add(r, extend, truncated ? 0 : std::min(r.given->max_new, clip_max_new_tokens), 0);
    if (!truncated) chunked_ = nullptr;
  }
  while (!waiting_.empty()) {
    if (static_cast<int>(adder.can_run.size()) >= allocatable) {
      batch_is_full_ = true;
      break;
    }
    Request& r = *waiting_.front();
    const std::size_t before = adder.can_run.size();
    const AddResult result = add_one(adder, r);
    if (adder.can_run.size() > before) {
      waiting_.pop_front();
      free_ -= config_.seat_tokens;
    }
    if (result == AddResult::no_token) batch_is_full_ = true;
    if (result != AddResult::go_on) break;
  }
  for (Request* r : adder.can_run)
    if (r != chunked_) last_extend_.push_back(r);
  return adder.rows;
}

AddResult Sglang::add_one(Adder& adder, Request& r) {
  const int extend = r.extend(), seat = config_.seat_tokens;
  if (extend + r.max_new_left() + page + seat > adder.rem_total) return AddResult::no_token;
  if (extend >= adder.rem_input && !adder.can_run.empty()) return AddResult::other;
  if (extend <= adder.rem_chunk) {
    adder.add(r, extend, std::min(r.given->max_new, clip_max_new_tokens), seat);
    return adder.state();
  }
  if (adder.rem_chunk <= 0) return AddResult::other;
  chunked_ = &r;
  adder.add(r, adder.rem_chunk, 0, seat);
  return adder.state();
}

/// update_running_batch
Rows Sglang::decode_running() {
  std::vector<Request*> batch;
  for (Request* r : running_)
    if (!r->draining()) batch.push_back(r);
  if (static_cast<int>(batch.size()) > free_) {
    retract(batch);
  } else if (!batch.empty()) {
    ratio_ = std::max(ratio_ - (init_ratio_ - min_ratio_) / ratio_decay_steps, min_ratio_);
  }
  if (static_cast<int>(batch.size()) > free_) return {};  // only what drains can help
  Rows rows;
  for (const Request* r : batch) rows.push_back({r->id, r->computed, 1, false, true});
  return rows;
}

/// Fewest generated tokens first, longest prompt among equals; at least one stays.
void Sglang::retract(std::vector<Request*>& batch) {
  std::vector<Request*> order = batch;
  std::stable_sort(order.begin(), order.end(), [](const Request* a, const Request* b) {
    if (a->output != b->output) return a->output > b->output;
    return a->given->prompt < b->given->prompt;
  });
  while (order.size() > 1 && static_cast<int>(order.size()) > free_) {
    Request* victim = order.back();
    order.pop_back();
    batch.erase(std::find(batch.begin(), batch.end(), victim));
    running_.erase(std::find(running_.begin(), running_.end(), victim));
    free_ += victim->computed + config_.seat_tokens;
    victim->computed = 0;
    victim->retractions += 1;
    if (config_.requeue_at_front) {
      waiting_.push_front(victim);
    } else {
      waiting_.push_back(victim);
    }
    retracted_ = shrunk_ = true;
  }
  int generated = 0, max_new = 0;
  for (const Request* r : batch) {
    generated += r->output;
    max_new += r->given->max_new;
  }
  const double steps_ahead = generated + retract_decode_steps * static_cast<double>(batch.size());
  ratio_ = std::min(1.0, steps_ahead / (max_new + 1));
}

void Sglang::update(const Rows& rows) {
  for (const Row& row : rows) {
    if (!row.samples) continue;
    Request& r = at(row.id);
    if (!r.present) continue;  // it ended while this batch was made or ran
    if (++r.landed < r.given->output) continue;
    if (r.computed > 0) free_ += r.computed + config_.seat_tokens;  // else it was retracted
    r.computed = 0;
    r.present = false;
    std::erase(running_, &r);
    std::erase(last_extend_, &r);
    ended_waiting_ += static_cast<int>(std::erase(waiting_, &r));
    shrunk_ = true;
  }
}

}  // namespace

History run_sglang(const SglangConfig& config, const std::vector<PlainRequest>& requests,
                   const Price& price) {
  Sglang engine(config, requests);
  return run(engine, requests, config.async_depth, price);
}

}  // namespace rooflua::reference
