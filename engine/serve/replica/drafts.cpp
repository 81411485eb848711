// Drafts of a replica that speculates: what its plans ask for.
//
//   plan    rows are chosen (planned_rows.cpp); the speculator says how many drafts all that sample
//           bring to the next plan; the step is priced with the contexts that will be true
//   commit  what is accepted of each row is resolved, and hidden in the row (verification.cpp)
//   land    the accepted drafts show (landing.cpp)

#include <algorithm>
#include <string>

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

}  // namespace rooflua
