// Low-rank adapters of a replica's steps.

#include <span>

#include "serve/replica/replica.h"

namespace rooflua {

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
