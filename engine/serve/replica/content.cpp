// From when on the blocks of a request carry content (ReplicaConfig::content_from), and what of it
// stays when the request gives them back.
// @source vLLM v1/core/kv_cache_manager.py, allocate_slots (blocks are cached as they are planned);
// SGLang managers/scheduler_output_processor_mixin.py (cache_unfinished_req when a batch is over),
// managers/scheduler.py (that of a cut prompt in front of the next batch), mem_cache/radix_cache.py
// (cache_finished_req); TensorRT-LLM _torch/pyexecutor/resource_manager.py, update_resources
// (store_context_blocks when a context is over), cpp kvCacheManager.cpp, releaseBlocks

#include <algorithm>
#include <vector>

#include "serve/replica/replica_state.h"
#include "serve/stores/tiers.h"

namespace rooflua {

/// A plan computes the sequence up to so many tokens.
void ReplicaState::plan_content(std::int32_t slot, std::int32_t tokens) {
  Progress& progress = board_.progress(slot);
  if (config_.content_from == ContentFrom::plan) {
    kv_.remember(slot, request(slot), progress, tokens / config_.block_size);
  } else {
    progress.chunks_end = tokens;
  }
  if (ragged_) ragged_->know(slot, tokens);
}

bool ReplicaState::shares_output(std::int32_t slot) const {
  return config_.content_from == ContentFrom::plan &&
         (stores_answers() || kv_.shares_output(request(slot), board_.progress(slot)));
}

/// All blocks of the request, with `granted_blocks` that the plan at hand took for it.
void ReplicaState::release_blocks(std::int32_t slot, std::int32_t granted_blocks, bool returns) {
  Progress& progress = board_.progress(slot);
  const Request& r = request(slot);
  const std::int32_t content = content_tokens(slot), size = config_.block_size;
  kv_.release(slot, r, progress, progress.held_blocks + granted_blocks + config_.seat_blocks,
              content / size, returns, content % size);
  progress.held_blocks = 0;
  progress.chunks_end = progress.landed_end = 0;
  sync_blocks();
}

/// Leading tokens of its own that are content.
std::int32_t ReplicaState::content_tokens(std::int32_t slot) const {
  const Progress& progress = board_.progress(slot);
  std::int32_t context = request(slot).context_tokens;
  if (progress.landed_end < progress.chunks_end) context = std::min(context, progress.landed_end);
  if (!ragged_) return context;
  // With two steps in flight all that landed is content; else what was known at the last plan.
  const RaggedProgress& ragged = board_.ragged(slot);
  const std::int32_t known = config_.async_depth > 1
                                 ? std::max(ragged.content_tokens, ragged.known_tokens)
                                 : ragged.content_tokens;
  return std::min(context, known);
}

/// Tokens of the sequence that are scheduled and known count as content; drafts never do.
bool ReplicaState::know_content(std::int32_t slot, std::int32_t tokens) {
  const RaggedProgress& ragged = board_.ragged(slot);
  const std::int32_t known = std::min(tokens, ragged.known_tokens);
  if (known <= ragged.content_tokens) return false;
  const bool fills = known >= ragged.fills_at;
  ragged_->know(slot, known);
  if (!fills || config_.content_from != ContentFrom::plan) return false;
  kv_.remember(slot, request(slot), board_.progress(slot), known / config_.block_size);
  fill_chunk(slot, known);
  return true;
}

/// The planned decode fills a block that others may ask for. If the block's last token is known, it
/// carries content from now on; if that token is in flight, from when it lands.
void ReplicaState::fill_block(std::int32_t slot) {
  const Progress& progress = board_.progress(slot);
  fill_chunk(slot, context_tokens(view(), request(slot)) + DecodePool::tokens_per_step);
  if (!flight_ && pipeline_.last_step_lands(slot, progress)) {
    pipeline_.last().fills.push_back(slot);
    pipeline_.last().plain = false;
  } else {
    const std::int32_t tokens = context_tokens(view(), request(slot)) + DecodePool::tokens_per_step;
    kv_.remember(slot, request(slot), progress, tokens / config_.block_size);
  }
}

double ReplicaState::new_block(std::int32_t slot) const noexcept {
  const Request& r = request(slot);
  const Progress& progress = board_.progress(slot);
  if (progress.remote_tokens > 0) return 0;
  std::int32_t known = 0;
  if (tiers_ != nullptr) {
    const std::int32_t cached = kv_.lookup(slot, r, progress).blocks * config_.block_size;
    const std::int32_t stored = tiers_->stored_tokens(view().index, r, progress, cached);
    known = (cached + stored) / config_.block_size;
  }
  const std::uint64_t hash = kv_.first_missing(slot, r, progress, known);
  return static_cast<double>(hash >> 11);  // as many bits as a number has
}

/// A chunk is computed, unless its request lost its seat meanwhile.
void ReplicaState::land_chunk(const PrefillWork& work) {
  const Request& r = request(work.slot);
  Progress& progress = board_.progress(work.slot);
  const std::int32_t end = work.context_tokens + work.new_tokens;
  const bool is_here = r.id == work.id && r.replica == view().index && seated(r.phase);
  if (!is_here || end > progress.chunks_end) return;
  progress.landed_end = std::max(progress.landed_end, end);
  if (config_.content_from == ContentFrom::prompt && work.completes == 0) return;
  kv_.remember(work.slot, r, progress, end / config_.block_size);
  changed_ = true;
}

/// Chunks of a step are content, in the order of admission: those that do not end their sequence
/// with the next plan, or all, when the step is over.
void ReplicaState::land_chunks(const std::vector<PrefillWork>& prefills, bool is_over) {
  if (!is_over && config_.content_from != ContentFrom::step) return;
  std::vector<const PrefillWork*> works;
  for (const PrefillWork& work : prefills) {
    if (is_over || work.completes == 0) works.push_back(&work);
  }
  std::sort(works.begin(), works.end(), [this](const PrefillWork* a, const PrefillWork* b) {
    return board_.progress(a->slot).seat < board_.progress(b->slot).seat;
  });
  for (const PrefillWork* work : works) land_chunk(*work);
}

}  // namespace rooflua
