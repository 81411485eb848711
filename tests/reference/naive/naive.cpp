#include "tests/reference/naive/naive.h"

#include <algorithm>

#include "tests/reference/naive/encoder.h"
#include "tests/reference/naive/replica.h"

namespace rooflua::reference {

NaiveReplica::NaiveReplica(const ServingCase& question, SchedulerPolicy& policy, Role role)
    : config_(question.config),
      role_(role),
      policy_(&policy),
      speculator_(question.config),
      acceptance_(question.config),
      pool_(question.config.blocks, question.config.prefix_caching),
      requests_(question.prompts.size()),
      board_(question.config, arena_, *this),
      plan_(*this) {
  for (std::size_t id = 0; id < requests_.size(); ++id) {
    requests_[id].given = &question.prompts[id];
    requests_[id].id = static_cast<int>(id);
  }
}

NaiveRequest* NaiveReplica::at_slot(int slot) {
  for (NaiveRequest& r : requests_)
    if (r.slot == slot && r.phase != Phase::absent) return &r;
  return nullptr;
}

int NaiveReplica::stop_at(const NaiveRequest& r) const {
  const int output = role_ == Role::prefill ? 1 : r.given->plain.output;
  return std::min(output, config_.max_model_len - r.given->plain.prompt);
}

/// All that can be known of its end before it comes.
int NaiveReplica::longest_output(const NaiveRequest& r) const {
  const int limit = role_ == Role::prefill ? 1 : r.given->plain.max_new;
  return std::min(limit, config_.max_model_len - r.given->plain.prompt);
}

int NaiveReplica::ceil_blocks(int tokens) const {
  return (tokens + config_.block_size - 1) / config_.block_size;
}

int NaiveReplica::tokens_planned() const {
  int tokens = 0;
  for (const NaiveRequest& r : requests_) tokens += r.planned;
  return tokens;
}

// --- a request's way

void NaiveReplica::arrive(int id) {
  NaiveRequest& r = requests_[static_cast<std::size_t>(id)];
  open(r);
  ask_key(r);
  queue(r, false);
}

/// It gets a place on the board.
void NaiveReplica::open(NaiveRequest& r) {
  const PlainRequest& plain = r.given->plain;
  RequestSpec spec;
  spec.arrival_s = seconds(plain.arrival);
  spec.prompt_tokens = plain.prompt;
  spec.output_tokens = plain.output;
  spec.max_output_tokens = plain.max_new;
  spec.priority = plain.priority;
  spec.predicted_output_tokens = plain.predicted;
  spec.adapter = plain.adapter;
  std::vector<Segment> segments;
  for (const auto& [content, count] : r.given->segments) segments.push_back({content, count});
  spec.segments = segments;
  r.slot = arena_.open(spec, r.id);
  arena_[r.slot].id = r.id;
  arena_[r.slot].replica = 0;
}

void NaiveReplica::ask_key(NaiveRequest& r) {
  if (!policy_->has_key()) return;
  arena_[r.slot].cached_tokens = std::max(hit_tokens(r), r.remote_kv());
  r.key = policy_->key(arena_[r.slot]);
  arena_[r.slot].cached_tokens = 0;
}

void NaiveReplica::queue(NaiveRequest& r, bool front) {
  r.phase = Phase::waiting;
  waiting_.insert(front ? waiting_.begin() : waiting_.end(), &r);
  if (policy_->has_key()) {
    std::sort(waiting_.begin(), waiting_.end(), [](const NaiveRequest* a, const NaiveRequest* b) {
      return a->key != b->key ? a->key < b->key : a->id < b->id;
    });
  }
  // Requests whose KV was sent here go before all others.
  std::stable_partition(waiting_.begin(), waiting_.end(),
                        [](const NaiveRequest* each) { return each->landed_kv; });
}

/// Blocks that seated prompts do not have yet.
int NaiveReplica::owed_to_prompts() const {
  int owed = 0;
  for (const NaiveRequest* r : running_) {
    const int has = static_cast<int>(r->blocks.size());
    if (r->phase == Phase::prefilling) owed += std::max(0, ceil_blocks(r->sequence()) - has);
  }
  return owed;
}

Rows NaiveReplica::schedule(Ps now) {
  now_ = now;
  for (NaiveRequest& r : requests_) {
    r.planned = 0;
    r.taken = r.fresh = r.passed = false;
  }
  pulled_.clear();
  loading_.clear();
  show();
  chunks_.clear();
  gone_.clear();
  plan_.begin(*policy_, board_, now, serial_++);
  policy_->plan(board_, plan_);
  if (encoder_ != nullptr) encoder_->plan(chunks_, gone_);

  propose();
  Rows rows;
  for (NaiveRequest* r : running_) {
    if (r->planned == 0) continue;
    const bool prefills = r->phase == Phase::prefilling;
    const bool completes = !prefills || r->computed + r->planned == r->sequence();
    rows.push_back({r->id, r->computed, r->planned, prefills, completes});
    r->computed += prefills ? r->planned : 1;
    if (speculates()) resolve(*r, rows.back());
    if (!completes) continue;
    r->output += 1;
    r->phase = r->output >= longest_output(*r) ? Phase::finishing : Phase::decoding;
    if (!config_.stages.several()) continue;
    ++r->under_way;
    if (r->phase == Phase::decoding) r->phase = Phase::in_flight;
  }
  for (const Row& row : rows)
    if (config_.content_from == 1 && row.prefill && !row.samples) land_chunk(row);
  if (plan_.decoded_together() && !rows.empty()) ++decode_steps_;
  return rows;
}

void NaiveReplica::update(const Rows& rows) {
  ended_.clear();
  for (const Row& row : rows)
    if (config_.content_from > 0 && row.prefill) land_chunk(row);
  for (const Row& row : rows) {
    NaiveRequest& r = requests_[static_cast<std::size_t>(row.id)];
    if (!row.samples || r.landed == stop_at(r)) continue;  // it had ended: nothing of it lands
    if (speculates() && !row.prefill) {
      land(r, row);
    } else {
      ++r.landed;
    }
    if (config_.stages.several()) --r.under_way;
    if (r.phase == Phase::in_flight) r.phase = Phase::decoding;
    const bool late = !speculates() || config_.async_depth == 2;  // content is known at the end
    const bool ends = r.landed == stop_at(r);
    const auto seat = std::find(running_.begin(), running_.end(), &r);
    // What is computed after an end token is no content.
    if (ends && late && seat != running_.end()) r.computed = r.given->plain.prompt + r.landed - 1;
    if (late && seat != running_.end() && config_.content_from == 0) cache_blocks(r, r.computed);
    if (!ends) continue;
    ended_.push_back(r.id);
    ended_waiting_ += static_cast<int>(std::erase(waiting_, &r));
    if (seat != running_.end()) {
      running_.erase(seat);
      if (role_ != Role::prefill) release(r);
    }
    r.phase = Phase::pending;
  }
}

// --- a cluster's

void NaiveReplica::arrive_without_kv(int id) {
  NaiveRequest& r = requests_[static_cast<std::size_t>(id)];
  r.remote = r.given->plain.prompt - 1;
  r.away = true;
  arrive(id);
}

bool NaiveReplica::reserve(int id) {
  NaiveRequest& r = requests_[static_cast<std::size_t>(id)];
  if (!waiting_.empty() && !waiting_.back()->landed_kv) return false;
  const std::vector<int> hits = lookup(r);
  int need = ceil_blocks(r.given->plain.prompt) - static_cast<int>(hits.size());
  for (const int block : hits) need += pool_.references(block) == 0;
  if (need + config_.seat_blocks + owed_to_prompts() > pool_.free_blocks()) return false;
  for (const int block : hits) pool_.touch(block);
  use_state(r, static_cast<int>(hits.size()));
  r.blocks = hits;
  r.hashed = r.state_at = static_cast<int>(hits.size());
  while (static_cast<int>(r.seat.size()) < config_.seat_blocks) r.seat.push_back(pool_.pop());
  while (static_cast<int>(r.blocks.size()) < ceil_blocks(r.given->plain.prompt))
    r.blocks.push_back(pool_.pop());
  return true;
}

void NaiveReplica::adopt(int id) {
  NaiveRequest& r = requests_[static_cast<std::size_t>(id)];
  r.remote = r.given->plain.prompt - 1;
  r.phase = Phase::pending;
  open(r);
}

void NaiveReplica::leave_with_blocks(int id) {
  NaiveRequest& r = requests_[static_cast<std::size_t>(id)];
  std::erase(running_, &r);
  r.phase = Phase::pending;
}

std::vector<int> NaiveReplica::preempted() const {
  std::vector<int> out;
  for (const NaiveRequest& r : requests_)
    if (r.taken) out.push_back(r.id);
  return out;
}

void NaiveReplica::receive(int id) {
  NaiveRequest& r = requests_[static_cast<std::size_t>(id)];
  r.landed_kv = true;
  r.loads = false;
  cache_blocks(r, r.remote_kv());
  ask_key(r);
  queue(r, false);
}

void NaiveReplica::release_kept(int id) {
  release(requests_[static_cast<std::size_t>(id)]);
}

void NaiveReplica::leave(int id) {
  NaiveRequest& r = requests_[static_cast<std::size_t>(id)];
  std::erase(waiting_, &r);
  std::erase(running_, &r);
  std::erase(deferred_, &r);
  if (r.landed_kv) r.computed = r.remote_kv();
  r.computed = std::min(r.computed, r.given->plain.prompt + r.landed);
  release(r);
  r.landed_kv = r.away = false;
  r.phase = Phase::pending;
}

void NaiveReplica::refuse(int id) {
  NaiveRequest& r = requests_[static_cast<std::size_t>(id)];
  r.computed = r.hashed * config_.block_size;
  r.loads = false;
  release(r);
}

Ps NaiveReplica::wake() const {
  return plan_.wake_s() < 0 ? unset : picoseconds(plan_.wake_s(), "wake");
}

ReplicaSignals NaiveReplica::signals() const {
  ReplicaSignals out;
  for (const NaiveRequest* r : waiting_) out.waiting_tokens += r->sequence();
  for (const NaiveRequest* r : running_) {
    out.prefilling += r->phase == Phase::prefilling;
    if (r->phase != Phase::decoding && r->phase != Phase::in_flight) continue;
    ++out.decodes;
    out.context_tokens += r->computed;
  }
  out.waiting = static_cast<std::int32_t>(waiting_.size());
  out.running = static_cast<std::int32_t>(running_.size());
  out.total_blocks = config_.blocks;
  out.free_blocks = pool_.free_blocks();
  out.kv_used_frac = static_cast<double>(out.total_blocks - out.free_blocks) / out.total_blocks;
  out.role = role_;
  return out;
}

std::set<int> NaiveReplica::adapters_in_use() const {
  std::set<int> out;
  for (const NaiveRequest* each : running_)
    if (each->phase != Phase::finishing) out.insert(each->given->plain.adapter);
  out.erase(0);
  return out;
}

bool NaiveReplica::has_prompt() const {
  return !waiting_.empty() || std::any_of(running_.begin(), running_.end(), [](const auto* r) {
    return r->phase == Phase::prefilling;
  });
}

bool NaiveReplica::decodes() const {
  return std::any_of(running_.begin(), running_.end(),
                     [](const auto* r) { return r->phase == Phase::decoding; });
}

void NaiveReplica::report(History& history) const {
  for (const NaiveRequest& r : requests_) {
    Served& served = history.requests[static_cast<std::size_t>(r.id)];
    served.preemptions = r.preemptions;
    served.cached = r.first_hit;
    served.scheduled = r.scheduled;
    history.preemptions += r.preemptions;
    history.held_back += r.held_back;
    if (r.landed < stop_at(r)) history.finished = false;
  }
  history.resume_hits = resume_hits_;
  history.ended_waiting = ended_waiting_;
}

History run_naive(const ServingCase& question, SchedulerPolicy& scheduler, NaiveEncoder* encoder) {
  NaiveReplica engine(question, scheduler);
  engine.use_encoder(encoder);
  const Stages& stages = question.config.stages;
  const Price price = [&](const Rows& rows) {
    return question.tariff(rows) + (encoder != nullptr ? encoder->take_pass() : 0);
  };
  if (stages.several()) return run_stages(engine, question.requests(), stages, price);
  return run(engine, question.requests(), question.config.async_depth, price);
}

}  // namespace rooflua::reference
