#pragma once
// What the definition of a play says of a run, computed from what was recorded of its requests. The
// engine's own account of the play is compared with it.

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tests/catch.h"
#include "tests/laws/plays_world.h"

namespace rooflua::test {

inline std::optional<Picoseconds> time_of(const RowSeen& seen, RowEvent event) {
  if (seen.sent == never) return std::nullopt;
  const bool completed = seen.done.outcome == Outcome::completed;
  switch (event) {
    case RowEvent::sent:
      return seen.sent;
    case RowEvent::first_token:
      return seen.done.first_token == never ? std::nullopt : std::optional(seen.done.first_token);
    case RowEvent::done:
      return completed ? std::optional(seen.done.now) : std::nullopt;
    case RowEvent::failed:
      return completed ? std::nullopt : std::optional(seen.done.now);
    case RowEvent::ended:
      return seen.done.now;
  }
  return std::nullopt;
}

inline Picoseconds later(double delay_s) {
  return picoseconds(delay_s, "test");
}

/// One play of a run, as its definition has it.
struct Account {
  const World& world;
  const std::int64_t number;
  Watch& watch;
  const PlaySeen& told;
  const Play& play = world.plays[static_cast<std::size_t>(number)];

  RowSeen& row(std::int32_t index) const { return watch.rows[{number, index}]; }
  std::int32_t count() const { return static_cast<std::int32_t>(play.rows.size()); }
  const PlayRow& said(std::int32_t index) const {
    return play.rows[static_cast<std::size_t>(index)];
  }
  bool has_barrier() const {
    return std::any_of(play.rows.begin(), play.rows.end(),
                       [](const PlayRow& each) { return each.warm || each.barrier > 0; });
  }

  /// When the row may be sent; nothing: never.
  std::optional<Picoseconds> due(std::int32_t index) const {
    Picoseconds out = has_barrier() ? 0 : told.done.start + later(said(index).not_before_s);
    for (const RowTrigger& parent : said(index).parents) {
      const auto event = time_of(row(parent.row), parent.event);
      if (!event) return std::nullopt;
      out = std::max(out, *event + later(parent.delay_s));
    }
    return out;
  }

  void check_row(std::int32_t index) const {
    CAPTURE(number, index);
    const RowSeen& seen = row(index);
    const PlayRow& own = said(index);
    CHECK(seen.ends == (seen.sent == never ? 0 : 1));
    const auto from = due(index);
    std::optional<Picoseconds> cancel;
    if (own.cancel.row >= 0) {
      cancel = time_of(row(own.cancel.row), own.cancel.event);
      if (cancel) *cancel += later(own.cancel.delay_s);
    }
    if (seen.sent == never) {  // an event did not come, or it was cancelled in time
      CHECK((!from || cancel));
      if (!has_barrier()) CHECK((!from || *cancel <= *from));
      return;
    }
    REQUIRE(from);
    if (own.barrier > 0 || has_barrier()) {
      CHECK(seen.sent >= *from);
    } else {
      CHECK(seen.sent == *from);
    }
    CHECK(seen.done.now >= seen.sent);
    if (seen.done.outcome == Outcome::cancelled) CHECK(cancel == seen.done.now);
    // What is on its way through the frontend has left the engine, and cannot be cancelled.
    const Picoseconds hop = later(world.bench.cluster.frontend.per_output_token_s);
    if (cancel && seen.done.outcome == Outcome::completed) CHECK(seen.done.now - hop <= *cancel);
  }

  /// The longest chain of delays and of times that requests took, by how far each event is from the
  /// start.
  Picoseconds longest(std::int32_t index, std::map<std::int32_t, Picoseconds>& known) const {
    if (const auto found = known.find(index); found != known.end()) return found->second;
    Picoseconds out = later(said(index).not_before_s);
    for (const RowTrigger& parent : said(index).parents) {
      const Picoseconds event = *time_of(row(parent.row), parent.event) - row(parent.row).sent;
      out = std::max(out, longest(parent.row, known) + event + later(parent.delay_s));
    }
    return known[index] = out;
  }
  Picoseconds longest() const {
    std::map<std::int32_t, Picoseconds> known;
    Picoseconds out = 0;
    for (std::int32_t i = 0; i < count(); ++i)
      if (row(i).sent != never)
        out = std::max(out, longest(i, known) + row(i).done.now - row(i).sent);
    return out;
  }

  /// How long something of the play was going on: a request, or the delay that one waited for.
  Picoseconds busy() const {
    std::vector<std::pair<Picoseconds, Picoseconds>> spans;
    for (std::int32_t i = 0; i < count(); ++i) {
      if (row(i).sent == never) continue;
      Picoseconds from = row(i).sent;
      if (from == told.done.start + later(said(i).not_before_s)) from = told.done.start;
      for (const RowTrigger& parent : said(i).parents) {
        const auto event = time_of(row(parent.row), parent.event);
        if (*event + later(parent.delay_s) == row(i).sent) from = std::min(from, *event);
      }
      spans.push_back({from, row(i).done.now});
    }
    std::sort(spans.begin(), spans.end());
    Picoseconds out = 0, until = told.done.start;
    for (const auto& [from, to] : spans) {
      out += std::max<Picoseconds>(0, to - std::max(from, until));
      until = std::max(until, to);
    }
    return out;
  }

  Picoseconds last_end() const {
    Picoseconds out = told.done.start;
    for (std::int32_t i = 0; i < count(); ++i)
      if (row(i).sent != never && !said(i).warm) out = std::max(out, row(i).done.now);
    return out;
  }

  /// A step of the path waited for the event of the step before it that came last, with its delay;
  /// the first one for no row, or for a warm one.
  void check_link(const PlayStep* before, const PlayStep& step) const {
    std::optional<Picoseconds> last;
    for (const RowTrigger& parent : said(step.row).parents)
      last = std::max(last.value_or(0),
                      *time_of(row(parent.row), parent.event) + later(parent.delay_s));
    const auto binds = [&](const RowTrigger& parent) {
      const auto event = time_of(row(parent.row), parent.event);
      return *event + later(parent.delay_s) == last && parent.row == before->row &&
             *event == before->until;
    };
    const std::vector<RowTrigger>& parents = said(step.row).parents;
    if (before != nullptr) {
      CHECK(std::any_of(parents.begin(), parents.end(), binds));
    } else if (last && !has_barrier()) {
      CHECK(*last < told.done.start + later(said(step.row).not_before_s));
    }
  }

  /// Each step of the path begins where the one before it ends, and its parts are what was told of
  /// its request.
  void check_path() const {
    Picoseconds at = told.done.start;
    PlayTimes sum;
    const PlayStep* before = nullptr;
    for (const PlayStep& step : told.path) {
      check_link(std::exchange(before, &step), step);
      const RequestDone& done = row(step.row).done;
      CHECK(step.id == done.id);
      CHECK(step.sent == row(step.row).sent);
      CHECK(step.times.tool == step.sent - at);
      const auto within = [&](Picoseconds time, Picoseconds from) {
        return time == never ? step.until : std::min(std::max(time, from), step.until);
      };
      const Picoseconds scheduled = within(done.scheduled, step.sent);
      const Picoseconds first = within(done.first_token, scheduled);
      CHECK(step.times.queue + step.times.load == scheduled - step.sent);
      CHECK(step.times.prefill == first - scheduled);
      CHECK(step.times.decode == step.until - first);
      for (const Picoseconds part : {step.times.tool, step.times.queue, step.times.load,
                                     step.times.prefill, step.times.decode})
        CHECK(part >= 0);
      sum.tool += step.times.tool;
      sum.queue += step.times.queue;
      sum.load += step.times.load;
      sum.prefill += step.times.prefill;
      sum.decode += step.times.decode;
      at = step.until;
    }
    CHECK(sum.sum() == told.done.end - told.done.start);
    CHECK(sum.queue == told.done.times.queue);
    CHECK(sum.load == told.done.times.load);
    CHECK(sum.prefill == told.done.times.prefill);
    CHECK(sum.decode == told.done.times.decode);
    CHECK(sum.tool == told.done.times.tool);
  }

  void check_tokens() const {
    std::int64_t prompts = 0, cached = 0, unsent = 0, completed = 0, others = 0;
    for (std::int32_t i = 0; i < count(); ++i) {
      if (said(i).warm) continue;
      const RowSeen& seen = row(i);
      unsent += seen.sent == never;
      if (seen.sent == never) continue;
      const bool done = seen.done.outcome == Outcome::completed;
      ++(done ? completed : others);
      CHECK(seen.done.prompt_tokens == said(i).spec.prompt_tokens);
      CHECK(seen.done.output_tokens <= said(i).spec.output_tokens);
      if (!done) continue;
      CHECK(seen.done.output_tokens == said(i).spec.output_tokens);
      prompts += said(i).spec.prompt_tokens;
      cached += seen.done.cached_tokens;
    }
    CHECK(told.done.left_out == unsent);
    CHECK(told.done.completed == completed);
    CHECK(told.done.failed + told.done.cancelled == others);
    CHECK(told.done.prompt_tokens == prompts);
    CHECK(told.done.cached_tokens == cached);
    if (world.serves_in_turn()) CHECK(told.done.cached_tokens <= told.done.ideal_tokens);
  }

  void check() const {
    CHECK(told.ends == 1);
    CHECK_FALSE(told.done.cut);
    for (std::int32_t i = 0; i < count(); ++i) check_row(i);
    check_path();
    check_tokens();
    CHECK(told.done.end == last_end());
    if (has_barrier()) return;
    CHECK(told.done.end - told.done.start == longest());
    CHECK(told.done.end - told.done.start == busy());
  }
};

/// When a row after a barrier was let go, where its times tell: what it waits for after that is
/// not_before_s, or nothing.
inline std::optional<Picoseconds> let_go(const Account& account, std::int32_t index) {
  const PlayRow& said = account.said(index);
  const Picoseconds sent = account.row(index).sent;
  if (said.parents.empty()) return sent - later(said.not_before_s);
  return sent > *account.due(index) ? std::optional(sent) : std::nullopt;
}

/// Rows after a barrier are let go when the warm rows in front of it have ended: those of the
/// play, and those of others that were under way. @returns how many rows were after one
inline std::int64_t check_barriers(const World& world, Watch& watch) {
  std::int64_t held = 0;
  std::map<std::int64_t, Picoseconds> begun;  // at the latest
  std::vector<std::pair<RowKey, const RowSeen*>> warm, behind;
  const auto said = [&](const RowKey& key) -> const PlayRow& {
    return world.plays[static_cast<std::size_t>(key.first)]
        .rows[static_cast<std::size_t>(key.second)];
  };
  for (const auto& [key, seen] : watch.rows) {
    if (seen.sent == never) continue;
    begun[key.first] = std::min(begun.emplace(key.first, never).first->second, seen.sent);
    if (said(key).warm) warm.push_back({key, &seen});
    if (said(key).barrier > 0) behind.push_back({key, &seen});
  }
  for (const auto& [key, seen] : behind) {
    ++held;
    const Account account{world, key.first, watch, watch.plays[key.first]};
    const auto from = let_go(account, key.second);
    for (const auto& [other, first] : warm) {
      if (said(other).barrier >= said(key).barrier) continue;
      CAPTURE(key.first, key.second, other.first, other.second);
      if (other.first == key.first) CHECK(first->done.now <= seen->sent);
      if (from && begun[other.first] < *from) CHECK(first->done.now <= *from);
    }
  }
  return held;
}

inline bool same(Watch& a, Watch& b, std::int64_t play, std::int32_t row, std::int32_t other) {
  const RowSeen &x = a.rows[{play, row}], &y = b.rows[{play, other}];
  return x.sent == y.sent && x.ends == y.ends && x.done.id == y.done.id &&
         x.done.now == y.done.now && x.done.outcome == y.done.outcome &&
         x.done.scheduled == y.done.scheduled && x.done.first_token == y.done.first_token &&
         x.done.output_tokens == y.done.output_tokens &&
         x.done.cached_tokens == y.done.cached_tokens && x.done.replica == y.done.replica;
}

inline bool same(const PlayDone& a, const PlayDone& b) {
  return a.start == b.start && a.end == b.end && a.completed == b.completed &&
         a.failed == b.failed && a.cancelled == b.cancelled && a.left_out == b.left_out &&
         a.prompt_tokens == b.prompt_tokens && a.cached_tokens == b.cached_tokens &&
         a.ideal_tokens == b.ideal_tokens;
}

inline void check_same(const World& world, Watch& a, Watch& b) {
  REQUIRE(a.plays.size() == b.plays.size());
  for (const auto& [number, seen] : a.plays) {
    CAPTURE(number);
    CHECK(same(seen.done, b.plays[number].done));
    const auto rows =
        static_cast<std::int32_t>(world.plays[static_cast<std::size_t>(number)].rows.size());
    for (std::int32_t i = 0; i < rows; ++i) CHECK(same(a, b, number, i, i));
  }
}

}  // namespace rooflua::test
