#include "serve/lanes/decode_pool.h"

#include <algorithm>
#include <map>
#include <random>

#include "tests/catch.h"
#include "tests/serve/board.h"
#include "tests/serve/kv/walked_bounds.h"

using namespace rooflua;
using namespace rooflua::test;
using Slots = std::vector<std::int32_t>;

namespace {

/// The same pool, request by request.
struct Walked {
  struct Row {
    std::int32_t context = 0, emitted = 0, held = 0, finish = 0;
    bool common = false;
  };
  std::map<std::int32_t, Row> rows;  // by slot
  std::int32_t block_size = 4;

  void step(std::int32_t slot) {
    Row& row = rows.at(slot);
    ++row.context;
    ++row.emitted;
    row.held = std::max(row.held, (row.context + block_size - 1) / block_size);
  }
};

/// A seated request with `context` tokens and one emitted, which decodes from now on.
std::int32_t join(TestBoard& at, DecodePool& pool, Walked& walked, std::int32_t context,
                  std::int32_t output, std::int32_t spare_blocks, bool shares) {
  static_assert(DecodePool::tokens_per_step == 1, "Walked::step counts one token");
  const std::int32_t slot = at.add(context, output);
  Request& request = at.requests[slot];
  Progress& progress = at.requests.progress(slot);
  request.context_tokens = context;
  request.emitted_tokens = 1;
  const std::int32_t size = at.board.view.block_size;
  progress.held_blocks = (context + size - 1) / size + spare_blocks;
  progress.seat = request.id;
  pool.join(slot, shares);
  walked.block_size = size;
  walked.rows[slot] = {context, 1, progress.held_blocks, output, false};
  return slot;
}

void check_same(const TestBoard& at, const DecodePool& pool, const Walked& walked) {
  double contexts = 0;
  std::vector<std::int32_t> each;
  std::int32_t blocks = 0;
  Slots newcomers, filling;
  for (const auto& [slot, row] : walked.rows) {
    const Request& request = at.requests[slot];
    REQUIRE(context_tokens(at.board.view, request) == row.context);
    REQUIRE(emitted_tokens(at.board.view, request) == row.emitted);
    REQUIRE(pool.blocks_needed(slot) == (row.context == row.held * walked.block_size ? 1 : 0));
    REQUIRE(pool.at_common_pace(slot) == row.common);
    contexts += row.context;
    each.push_back(row.context);
    blocks += pool.blocks_needed(slot);
    if (!row.common) newcomers.push_back(slot);
    if (pool.is_filling(slot)) {
      REQUIRE((row.context + 1) % walked.block_size == 0);
      filling.push_back(slot);
    }
  }
  REQUIRE(at.board.view.decodes == static_cast<std::int32_t>(walked.rows.size()));
  REQUIRE(at.board.view.decode_context_tokens == contexts);
  REQUIRE(pool.blocks_needed() == blocks);
  Batch batch;
  batch.decodes = at.board.view.decodes;
  batch.contexts = each.data();
  pool.bounded().sum_all(batch);
  REQUIRE(wrong_bounds(batch, {batch.bounds->caps, batch.bounds->chunk}) == "");
  Slots listed(pool.newcomers().begin(), pool.newcomers().end());
  std::sort(listed.begin(), listed.end());
  REQUIRE(listed == newcomers);
  Slots fills = pool.filling();
  for (std::size_t i = 1; i < fills.size(); ++i)
    REQUIRE(at.requests.progress(fills[i - 1]).seat < at.requests.progress(fills[i]).seat);
  std::sort(fills.begin(), fills.end());
  REQUIRE(fills == filling);
  REQUIRE(pool.any_filling() == !filling.empty());
}

}  // namespace

TEST_CASE("decoding requests advance together, and each ends at its own token") {
  TestBoard at(4);
  DecodePool pool(at.board);
  Walked walked;
  const std::int32_t a = join(at, pool, walked, 6, 3, 0, false);
  const std::int32_t b = join(at, pool, walked, 7, 4, 0, false);
  CHECK(pool.blocks_needed() == 0);
  CHECK(pool.advance({}).empty());  // contexts 7 and 8, emitted 2 and 2
  CHECK(pool.blocks_needed() == 1);
  CHECK(pool.blocks_needed(b) == 1);
  const auto due = pool.advance({});  // request 0 has its 3 tokens
  CHECK(Slots(due.begin(), due.end()) == Slots{a});
  pool.leave(a);
  CHECK(at.requests[a].context_tokens == 8);
  CHECK(at.requests[a].emitted_tokens == 3);
  CHECK(at.requests.progress(a).held_blocks == 2);
  const auto last = pool.advance({});
  CHECK(Slots(last.begin(), last.end()) == Slots{b});
}

TEST_CASE("a request that ends later than foreseen goes on by as many tokens") {
  TestBoard at(4);
  DecodePool pool(at.board);
  Walked walked;
  const std::int32_t a = join(at, pool, walked, 3, 2, 0, false);
  CHECK(pool.advance({}).size() == 1);
  pool.prolong(a, 3);
  CHECK(pool.advance({}).empty());
  CHECK(pool.advance({}).empty());
  CHECK(pool.advance({}).size() == 1);
}

TEST_CASE(
    "a pool that counts agrees with one that walks, through joins, skips, lone steps and ends") {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    std::mt19937_64 random(seed);
    const auto dice = [&](int sides) { return static_cast<std::int32_t>(random() % sides); };
    TestBoard at(1 + dice(9));
    const ContextBounds bounds{{1 + dice(60), 1 + dice(90), dice(3), 0}, 1 + dice(40)};
    DecodePool pool(at.board, BoundedContexts(bounds, 1 << 20));
    Walked walked;
    walked.block_size = at.board.view.block_size;
    std::int64_t ended = 0, prolonged = 0;
    const auto end_or_go_on = [&](std::int32_t slot) {
      Walked::Row& row = walked.rows.at(slot);
      REQUIRE(row.emitted == row.finish);
      if (dice(3) == 0) {
        const std::int32_t more = 1 + dice(30);
        pool.prolong(slot, more);
        row.finish += more;
        ++prolonged;
        return;
      }
      pool.leave(slot);
      REQUIRE(at.requests[slot].context_tokens == row.context);
      REQUIRE(at.requests.progress(slot).held_blocks == row.held);
      walked.rows.erase(slot);
      at.requests.close(slot);
      ++ended;
    };
    for (int i = 0; i < 3000; ++i) {
      const bool shares = dice(2) == 0;
      if (walked.rows.size() < 30 && dice(4) == 0)
        join(at, pool, walked, 1 + dice(60), 2 + dice(40), dice(3) == 0 ? dice(4) : 0, shares);
      check_same(at, pool, walked);
      Slots slots;
      for (const auto& [slot, row] : walked.rows) slots.push_back(slot);
      if (slots.empty()) continue;
      const std::int32_t one =
          slots[static_cast<std::size_t>(dice(static_cast<int>(slots.size())))];
      switch (dice(8)) {
        case 0: {  // one leaves, as a preempted request does
          pool.leave(one);
          REQUIRE(at.requests[one].context_tokens == walked.rows.at(one).context);
          walked.rows.erase(one);
          at.requests.close(one);
          break;
        }
        case 1: {  // one decodes alone
          walked.step(one);
          walked.rows.at(one).common = false;
          const bool ends = pool.advance_alone(one);
          REQUIRE(ends == (walked.rows.at(one).emitted == walked.rows.at(one).finish));
          if (ends) end_or_go_on(one);
          break;
        }
        default: {  // all decode, at times without some
          Slots left_out;
          for (const std::int32_t slot : slots)
            if (dice(6) == 0 && dice(2) == 0) left_out.push_back(slot);
          Slots ends;
          for (const std::int32_t slot : slots) {
            const bool sits = std::find(left_out.begin(), left_out.end(), slot) != left_out.end();
            walked.rows.at(slot).common = !sits;
            if (sits) continue;
            walked.step(slot);
            if (walked.rows.at(slot).emitted == walked.rows.at(slot).finish) ends.push_back(slot);
          }
          const auto due = pool.advance(left_out);
          Slots found(due.begin(), due.end());
          std::sort(found.begin(), found.end());
          REQUIRE(found == ends);
          for (const std::int32_t slot : found) end_or_go_on(slot);
        }
      }
    }
    CHECK(ended > 50);
    CHECK(prolonged > 20);
  }
}

TEST_CASE("ends further ahead than the wheel is large are found in time") {
  TestBoard at(16);
  DecodePool pool(at.board);
  Walked walked;
  const std::int32_t near = join(at, pool, walked, 1, 8192 + 3, 0, false);
  const std::int32_t far = join(at, pool, walked, 1, 2 * 8192 + 3, 0, false);
  std::map<std::int32_t, int> steps;
  for (int i = 1; i <= 3 * 8192 && steps.size() < 2; ++i) {
    for (const std::int32_t slot : pool.advance({})) {
      steps[slot] = i;
      pool.leave(slot);
    }
  }
  CHECK(steps == std::map<std::int32_t, int>{{near, 8192 + 2}, {far, 2 * 8192 + 2}});
}
