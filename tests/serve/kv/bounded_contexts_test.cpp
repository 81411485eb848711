#include "serve/lanes/bounded_contexts.h"

#include <random>

#include "tests/catch.h"
#include "tests/serve/kv/walked_bounds.h"

using namespace rooflua;
using namespace rooflua::test;
using Contexts = std::vector<std::int32_t>;

namespace {

constexpr std::int64_t plenty = 1 << 20;

Batch all_of(const BoundedContexts& bounded, const Contexts& contexts) {
  Batch batch;
  batch.decodes = static_cast<std::int32_t>(contexts.size());
  batch.contexts = contexts.data();
  bounded.sum_all(batch);
  return batch;
}

}  // namespace

TEST_CASE("a request counts with its context and the new token, up to the cap") {
  BoundedContexts bounded({{3, 0, 8, 1}, 4}, plenty);
  CHECK(bounded.used());
  for (const std::int32_t context : {1, 2, 7}) bounded.add(context);
  Batch batch;
  bounded.sum_all(batch);
  CHECK(batch.bounded_tokens[0] == 2 + 3 + 3);
  CHECK(batch.bounded_tokens[1] == 0);  // no cap
  CHECK(batch.bounded_tokens[2] == 2 + 3 + 8);
  CHECK(batch.bounded_tokens[3] == 3);
  CHECK(batch.chunk_tokens == 2 + 3 + 4);
  bounded.advance();  // contexts 2, 3 and 8
  bounded.sum_all(batch);
  CHECK(batch.bounded_tokens[0] == 9);
  CHECK(batch.bounded_tokens[2] == 3 + 4 + 8);
  CHECK(batch.chunk_tokens == 3 + 4 + 1);
  bounded.remove(3);
  bounded.sum_all(batch);
  CHECK(batch.bounded_tokens[2] == 3 + 8);
  CHECK(batch.bounds->caps[2] == 8);
  CHECK(batch.bounds->chunk == 4);
}

TEST_CASE("without caps and without a chunk nothing is kept") {
  CHECK(!BoundedContexts().used());
  CHECK(!BoundedContexts({}, plenty).used());
  CHECK(BoundedContexts({{0, 0, 0, 9}, 0}, plenty).used());
  CHECK(BoundedContexts({{}, 9}, plenty).used());
}

TEST_CASE("sums that are counted agree with sums that are walked") {
  std::int64_t reached = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    std::mt19937_64 random(seed);
    const auto dice = [&](int sides) { return static_cast<std::int32_t>(random() % sides); };
    const std::int32_t longest = 20 + dice(300);
    const std::int32_t caps[4] = {1 + dice(longest), dice(2) * dice(2 * longest), 1 + dice(4),
                                  2'000'000'000};
    const std::int32_t chunk = dice(4) == 0 ? 1'000'000'000 : 1 + dice(longest);
    const ContextBounds bounds{{caps[0], caps[1], caps[2], caps[3]}, chunk};
    BoundedContexts bounded(bounds, longest);
    Contexts contexts;
    for (int i = 0; i < 2000; ++i) {
      if (contexts.size() < 12 && dice(3) == 0) {
        contexts.push_back(dice(longest));
        bounded.add(contexts.back());
      }
      if (!contexts.empty() && dice(30) == 0) {
        const auto one = contexts.begin() + dice(static_cast<int>(contexts.size()));
        bounded.remove(*one);
        contexts.erase(one);
      }
      const Batch batch = all_of(bounded, contexts);
      INFO("seed " << seed << ", step " << i);
      REQUIRE(wrong_bounds(batch, {caps, chunk}) == "");
      Batch again;
      again.decodes = batch.decodes;
      again.contexts = batch.contexts;
      bounded.sum_of(contexts.data(), again);
      REQUIRE(wrong_bounds(again, {caps, chunk}) == "");
      bounded.advance();
      for (std::int32_t& context : contexts) reached += ++context + 1 == caps[0];
      for (std::size_t k = contexts.size(); k-- > 0;) {
        if (contexts[k] < longest) continue;
        bounded.remove(contexts[k]);
        contexts.erase(contexts.begin() + static_cast<std::ptrdiff_t>(k));
      }
    }
  }
  CHECK(reached > 1000);
}
