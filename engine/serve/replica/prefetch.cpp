// What the end of a step reads comes into the processor's cache before.

#include <cstddef>

#include "serve/replica/replica.h"

namespace rooflua {

namespace {

/// Everything from the beginning of one object to the end of another one after it.
void prefetch_between(const void* first, const void* end) {
  constexpr std::ptrdiff_t line_bytes = 64;
  for (auto at = static_cast<const char*>(first); at < end; at += line_bytes)
    __builtin_prefetch(at);
}

}  // namespace

void Replica::prefetch() const {
  prefetch_between(this, &kv_);
  kv_.prefetch();
  prefetch_between(&pool_, &pool_.bounded());
  pipeline_.prefetch();
  prefetch_between(&plan_, this + 1);
}

void Replica::prefetch_parts() const {
  pool_.prefetch();
  if (pipeline_.planned() == 0) return;
  __builtin_prefetch(pipeline_.front().ending.data());
  __builtin_prefetch(pipeline_.front().prefills.data());
}

void Replica::prefetch_requests() const {
  const auto prefetch = [this](std::int32_t slot) {
    prefetch_between(&board_.request(slot), &board_.request(slot) + 1);
    prefetch_between(&board_.progress(slot), &board_.progress(slot) + 1);
  };
  if (view().waiting_head >= 0) prefetch(view().waiting_head);
  if (const std::int32_t slot = pool_.due_next(); slot >= 0) prefetch(slot);
  if (pipeline_.planned() == 0) return;
  for (const std::int32_t slot : pipeline_.front().ending) prefetch(slot);
  for (const PrefillWork& work : pipeline_.front().prefills) prefetch(work.slot);
}

}  // namespace rooflua
