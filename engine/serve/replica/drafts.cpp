// Drafts of a replica that speculates: what its plans ask for.
//
//   plan    rows are chosen (planned_rows.cpp); the speculator says how many drafts all that sample
//           bring to the next plan; the step is priced with the contexts that will be true
//   commit  what is accepted of each row is resolved, and hidden in the row
//   land    the accepted drafts show (landing.cpp)

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "serve/replica/replica.h"

namespace rooflua {

namespace {

/// While it lives, the contexts of the batch are those that the scheduler knows.
class AsKnown {
 public:
  explicit AsKnown(bool& flag) : flag_(flag) { flag_ = true; }
  ~AsKnown() { flag_ = false; }
  AsKnown(const AsKnown&) = delete;
  AsKnown& operator=(const AsKnown&) = delete;

 private:
  bool& flag_;
};

}  // namespace

void Replica::speculate_by(SpeculatorPolicy* speculator, AcceptanceModel* acceptance) {
  ROOFLUA_ASSERT((speculator == nullptr) == (acceptance == nullptr));
  speculator_ = speculator;
  acceptance_ = acceptance;
  const std::int32_t depth = speculator != nullptr ? speculator->depth() : 0;
  if (depth <= widest_) return;
  widest_ = depth;
  board_.requests->forget_fates();  // they were found for fewer drafts
}

bool Replica::must_ask_ragged() const {
  wish_ = ragged_->demand(takers_);
  const std::int32_t budget = view().max_num_batched_tokens;
  if (wish_.blocks > kv_.free_blocks() || (budget > 0 && wish_.tokens > budget)) return true;
  // Tokens that decodes leave may go to prompts.
  if (wish_.tokens != asked_tokens_ && view().waiting + view().prefilling > 0) return true;
  return view().waiting > 0 && ragged_->any_fills();
}

void Replica::sum_rows() {
  std::vector<Row>& rows = plan_.rows();
  if (!plan_.singles().empty()) {
    std::sort(rows.begin(), rows.end(), [this](const Row& a, const Row& b) {
      return board_.progress(a.slot).seat < board_.progress(b.slot).seat;
    });
  }
  const RowSums& sums = plan_.row_sums();
  batch_.decode_tokens = static_cast<std::int32_t>(sums.tokens);
  batch_.decode_context_tokens = static_cast<double>(sums.contexts);
  batch_.decode_pairs = static_cast<double>(sums.pairs);
  const BoundedContexts& bounded = pool_.bounded();
  if (!bounded.used()) return;
  bounded.sum_of(planned_decode_contexts(), batch_);
}

std::int32_t Replica::checked_drafts(int found, int most, const char* where) const {
  if (found >= 0 && found <= most) return found;
  throw Error("speculator", std::string(where) + ": found " + std::to_string(found) +
                                " drafts; a whole number from 0 to " + std::to_string(most) +
                                " is right");
}

/// All that sample in this step bring drafts to the next one.
void Replica::ask_for_drafts() {
  if (!is_ragged()) return;
  next_drafts_ = 0;
  prompt_drafts_.assign(plan_.prefills().size(), 0);
  if (speculator_ == nullptr || batch_.sampled == 0) return;
  board_.view.requests = board_.requests->data();
  board_.view.slots = board_.requests->slots();
  Batch seen = batch_;
  seen.bounds = nullptr;
  const RowSums& sums = plan_.row_sums();
  seen.decode_context_tokens = static_cast<double>(sums.known_contexts);
  seen.decode_pairs = static_cast<double>(sums.known_pairs);
  const AsKnown as_known(as_known_);
  ask_for_each(checked_drafts(speculator_->drafts(seen, view()), speculator_->depth(), "drafts"));
}

std::span<const std::int32_t> Replica::planned_slots() const {
  if (plan_.implies_rows()) return ragged_->members();
  slots_.clear();
  for (const Row& row : plan_.rows()) slots_.push_back(row.slot);
  return slots_;
}

void Replica::ask_for_each(int k) {
  const auto count = [&](std::int32_t rows, std::int32_t drafts) {
    if (drafts > 0) batch_.draft_rows += rows;
    batch_.draft_tokens += rows * drafts;
    batch_.draft_passes = std::max(batch_.draft_passes, drafts);
  };
  const bool differ = speculator_->has_draft();
  const auto give = [&](std::int32_t slot) {
    std::int32_t drafts = k;
    if (differ)
      drafts = checked_drafts(speculator_->draft(request(slot), k), speculator_->depth(), "draft");
    count(1, drafts);
    return drafts;
  };
  next_drafts_ = k;
  if (differ) {
    plan_.write_rows();
    for (Row& row : plan_.rows()) row.next_drafts = give(row.slot);
  } else if (plan_.view().decodes > 0) {
    for (Row& row : plan_.rows()) row.next_drafts = k;
    count(plan_.view().decodes, k);
  }
  for (std::size_t i = 0; i < prompt_drafts_.size(); ++i) {
    const PrefillWork& work = plan_.prefills()[i];
    if (work.completes != 0) prompt_drafts_[i] = give(work.slot);
  }
}

// --- Steps of a replica that speculates are committed. What is accepted of each row is resolved now,
// and hidden in the row: each request shows one token more, which is certain. A request that
// reaches its limit with what is certain is not planned again.

void Replica::advance_rows(Step& step) {
  const bool drawn =
      acceptance_ != nullptr && acceptance_->draws_only() && widest_ <= Fates::most_drafts;
  if (plan_.implies_rows() && !drawn) {
    plan_.write_rows();
    for (Row& row : plan_.rows()) row.next_drafts = next_drafts_;
  }
  if (!plan_.implies_rows()) {
    step.rows.swap(plan_.rows());
    leave_out_decodes(step);
  }
  if (plan_.view().decodes == 0) return;
  board_.view.lane_steps += plan_.decodes_everyone() || plan_.walked();
  const bool at_limit = plan_.implies_rows() ? advance_members(step) : advance_each(step);
  const auto rows = static_cast<std::int32_t>(step.rows.size());
  step.drafted += batch_.decode_tokens - rows;
  board_.view.decode_context_tokens += rows;
  ragged_->advance(rows + step.accepted);
  if (!at_limit) return;
  for (const Row& row : step.rows) {
    if (request(row.slot).emitted_tokens >= board_.ragged(row.slot).limit) finish(row.slot);
  }
}

namespace {

/// The request advances by a row that is resolved.
void advance(const Row& row, Request& request, RaggedProgress& ragged) {
  ragged.true_emitted += row.landed;
  ragged.true_context += 1 + row.accepted;
  ragged.ahead += row.tokens();
  ++request.context_tokens;
  ++request.emitted_tokens;
}

}  // namespace

/// All members of the pool with all their drafts, where nothing but draws of the requests says what
/// is accepted. @returns whether a request may have reached its limit
bool Replica::advance_members(Step& step) {
  const std::span<const std::int32_t> members = ragged_->members();
  step.rows.resize(members.size());
  Row* row = step.rows.data();
  Request* const requests = &board_.request(0);
  RaggedProgress* const all_ragged = &board_.ragged(0);
  std::int32_t* const counts = step.accepted_counts.data();
  const std::int32_t next_drafts = next_drafts_;
  std::int32_t accepted_tokens = 0;
  bool at_limit = false;
  for (const std::int32_t slot : members) {
    Request& request = requests[slot];
    RaggedProgress& ragged = all_ragged[slot];
    row->slot = slot;
    row->id = request.id;
    row->drafts = ragged.drafts;
    const bool far_from_end = ragged.true_emitted + 1 + row->drafts < ragged.stop_at;
    if (far_from_end && (ragged.fates.has(ragged.true_emitted) || has_fates(ragged))) {
      row->accepted = std::min(ragged.fates.of(ragged.true_emitted), row->drafts);
      row->landed = 1 + row->accepted;
      row->discarded = row->ends = false;
      ++ragged.fates.rounds;
      ++counts[row->accepted];
    } else {
      resolve(*row, 0, step);
      at_limit = at_limit || request.emitted_tokens + 1 >= ragged.limit;
    }
    advance(*row, request, ragged);
    accepted_tokens += row->accepted;
    ragged.drafts = static_cast<std::uint16_t>(next_drafts);
    request.draft_tokens = next_drafts;
    ++row;
  }
  step.accepted += accepted_tokens;
  ragged_->note_drafts_of_all(next_drafts);
  return at_limit;
}

/// The rows of the step one by one, whatever they are. @returns as advance_members()
bool Replica::advance_each(Step& step) {
  const double step_u = step_draw(step);
  bool at_limit = false;
  for (Row& row : step.rows) {
    Request& request = board_.request(row.slot);
    RaggedProgress& ragged = board_.ragged(row.slot);
    resolve(row, step_u, step);
    advance(row, request, ragged);
    step.accepted += row.accepted;
    ragged_->set_drafts(row.slot, row.next_drafts);
    at_limit = at_limit || request.emitted_tokens >= ragged.limit;
  }
  return at_limit;
}

/// What is accepted of a row, and what of it will land.
void Replica::resolve(Row& row, double step_u, Step& step) {
  RaggedProgress& ragged = board_.ragged(row.slot);
  const std::int32_t left = ragged.stop_at - ragged.true_emitted;
  row.accepted = row.landed = 0;
  row.ends = false;
  row.discarded = left <= 0;
  if (row.discarded) {
    ++step.discarded;
    step.drafted -= row.drafts;
    return;
  }
  if (row.drafts > 0) row.accepted = accepted_of(row, ragged, step_u);
  ++ragged.fates.rounds;
  row.landed = std::min(1 + row.accepted, left);
  row.ends = row.landed == left;
  step.overshoot += 1 + row.accepted - row.landed;
  ++step.accepted_counts[static_cast<std::size_t>(row.accepted)];
  if (row.ends) step.ending.push_back(row.slot);
}

/// Finds the fates of the request's next round, if its curve is one of draws.
bool Replica::has_fates(RaggedProgress& ragged) const {
  if (ragged.fates.has(ragged.true_emitted)) return true;
  if (ragged.curve == nullptr || !ragged.curve->rounds.empty()) return false;
  const std::span<const double> shares(ragged.curve->accepted);
  const auto widest = static_cast<std::size_t>(std::min(widest_, Fates::most_drafts));
  find_fates(ragged.key, ragged.true_emitted, shares.first(std::min(shares.size(), widest)),
             ragged.fates, ragged.behind);
  return true;
}

std::int32_t Replica::accepted_of(const Row& row, RaggedProgress& ragged, double step_u) const {
  const Curve& curve = *ragged.curve;
  if (acceptance_->draws_only() && row.drafts <= Fates::most_drafts && has_fates(ragged))
    return std::min(ragged.fates.of(ragged.true_emitted), row.drafts);
  Round round;
  round.drafted = row.drafts;
  round.emitted = ragged.true_emitted;
  round.index = ragged.fates.rounds;
  round.key = ragged.key;
  round.step_u = step_u;
  const std::int32_t accepted = acceptance_->accept(request(row.slot), round, curve);
  ROOFLUA_ASSERT(accepted >= 0 && accepted <= row.drafts);
  return accepted;
}

/// With two steps in flight the drafts of a request exist only while it is in every step.
void Replica::leave_out_decodes(Step& step) {
  if (static_cast<std::int32_t>(step.rows.size()) == view().decodes) return;
  const bool skips = plan_.walked() || !plan_.singles().empty();
  for (std::int32_t slot = view().running_head; slot >= 0; slot = request(slot).next) {
    if (request(slot).phase != Phase::decoding || plan_.holds(slot)) continue;
    if (skips) step.skipped.push_back(request(slot).id);
    if (config_.async_depth > 1) ragged_->set_drafts(slot, 0);
  }
}

/// The draw of a step, where one decides all rows.
double Replica::step_draw(const Step& step) const {
  if (acceptance_ == nullptr || !acceptance_->per_step()) return 0;
  const RandomStream stream =
      random_stream(config_.seed, "acceptance.step", static_cast<std::uint64_t>(view().index));
  return uniform_at(stream.key, static_cast<std::uint64_t>(step.serial));
}

/// Prompts that are complete: their first drafts, and how the request's drafts will be accepted.
void Replica::first_drafts(const Step& step) {
  for (std::size_t i = 0; i < step.prefills.size(); ++i) {
    const PrefillWork& work = step.prefills[i];
    if (work.completes == 0) continue;
    RaggedProgress& ragged = board_.ragged(work.slot);
    ++ragged.true_emitted;
    ragged_->set_drafts(work.slot, prompt_drafts_[i]);
    if (acceptance_ == nullptr || ragged.curve != nullptr) continue;
    RandomStream stream = random_stream(config_.seed, curve_stream,
                                        static_cast<std::uint64_t>(request(work.slot).id));
    ragged.curve = acceptance_->curve(request(work.slot), stream);
    ROOFLUA_ASSERT(ragged.curve != nullptr);
  }
}

// --- Low-rank adapters of a replica's steps.

/// What the batch at hand has of adapters: those of its rows, and what began with its plan.
void Replica::sum_adapters() {
  const auto [loads, load_s] = adapters_->take_loads();
  batch_.adapter_loads = loads;
  batch_.adapter_load_s = load_s;
  batch_.adapter_held = plan_.take_held();
  batch_.adapters = batch_.adapter_tokens = 0;
  adapters_->start_count();
  const auto see = [this](std::int32_t slot, std::int32_t tokens) {
    const std::int32_t adapter = this->adapter(slot);
    if (adapter == 0) return;
    batch_.adapters += adapters_->count(adapter);
    batch_.adapter_tokens += tokens;
  };
  for (const PrefillWork& work : plan_.prefills()) see(work.slot, work.new_tokens);
  if (batch_.decodes == 0) return;
  if (is_ragged()) {
    const std::span<const std::int32_t> slots = planned_slots();
    const std::int32_t* widths = planned_decode_widths();
    for (std::size_t i = 0; i < slots.size(); ++i) see(slots[i], widths[i]);
    return;
  }
  const bool all = plan_.decodes_everyone();
  for (std::int32_t slot = view().running_head; slot >= 0; slot = request(slot).next) {
    if (request(slot).phase == Phase::decoding && (all || plan_.holds(slot)))
      see(slot, DecodePool::tokens_per_step);
  }
}

}  // namespace rooflua
