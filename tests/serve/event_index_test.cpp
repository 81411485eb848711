// What a router believes from events and from what it sent, against lists that are searched.

#include "serve/routing/event_index.h"

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

#include "tests/catch.h"

using namespace rooflua;

namespace {

struct Dice {
  std::uint64_t state;
  int below(int limit) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<int>((state >> 33) % static_cast<std::uint64_t>(limit));
  }
};

/// Of each block a list of entries, the one that was added the longest ago first. Everything that
/// is still to happen is a note with its time.
class PlainIndex {
 public:
  PlainIndex(std::size_t most, Picoseconds lag, Picoseconds ttl)
      : most_(most), lag_(lag), ttl_(ttl) {}

  void tell(int replica, bool kept, const std::vector<std::uint64_t>& hashes, Picoseconds now) {
    notes_.push_back({now + lag_, 0, replica, kept, false, hashes});
  }
  void speculate(int replica, const std::vector<std::uint64_t>& hashes, Picoseconds now) {
    change(replica, true, true, hashes);
    notes_.push_back({now + ttl_, 1, replica, false, true, hashes});
  }
  void hear(Picoseconds now) {
    std::stable_sort(notes_.begin(), notes_.end(), [](const Note& a, const Note& b) {
      return a.time != b.time ? a.time < b.time : a.rank < b.rank;
    });
    while (!notes_.empty() && notes_.front().time <= now) {
      const Note note = notes_.front();
      notes_.pop_front();
      change(note.replica, note.kept, note.is_speculative, note.hashes);
    }
  }
  int matched(int replica, const std::vector<std::uint64_t>& hashes) const {
    int count = 0;
    for (const std::uint64_t hash : hashes) {
      const auto found = entries_.find(hash);
      if (found == entries_.end() || !has(found->second, replica)) break;
      ++count;
    }
    return count;
  }
  int ended = 0;  // entries that gave way

 private:
  using Entry = std::pair<int, bool>;  // replica, whether it is speculative
  struct Note {
    Picoseconds time;
    int rank, replica;
    bool kept, is_speculative;
    std::vector<std::uint64_t> hashes;
  };
  static bool has(const std::vector<Entry>& entries, int replica) {
    return std::any_of(entries.begin(), entries.end(),
                       [&](const Entry& each) { return each.first == replica; });
  }
  void change(int replica, bool kept, bool is_speculative,
              const std::vector<std::uint64_t>& hashes) {
    for (const std::uint64_t hash : hashes) {
      std::vector<Entry>& own = entries_[hash];
      std::erase(own, Entry{replica, is_speculative});
      if (!kept) continue;
      own.emplace_back(replica, is_speculative);
      if (most_ == 0 || own.size() <= most_) continue;
      own.erase(own.begin());
      ++ended;
    }
  }

  std::size_t most_;
  Picoseconds lag_, ttl_;
  std::map<std::uint64_t, std::vector<Entry>> entries_;
  std::deque<Note> notes_;
};

/// A prompt of a few trees: block d of tree t, and of a branch from some depth on.
std::vector<std::uint64_t> draw_prompt(Dice& dice) {
  std::vector<std::uint64_t> hashes;
  const int tree = dice.below(3), depth = dice.below(9), fork = dice.below(9);
  for (int d = 1; d <= depth; ++d)
    hashes.push_back(static_cast<std::uint64_t>(d + 100 * tree + (d > fork ? 1000 * fork : 0)));
  return hashes;
}

}  // namespace

TEST_CASE("an index of events knows what lists of each block's last entries know") {
  int hits = 0, ended = 0, only_speculative = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    Dice dice{seed * 977};
    RouterIndex rules;
    rules.kind = RouterIndex::Kind::told;
    rules.capacity_blocks = 100000;
    rules.most_holders = dice.below(3) == 0 ? 0 : 1 + dice.below(5);
    rules.lag_s = 1e-12 * dice.below(12);
    rules.speculative_s = dice.below(3) == 0 ? 0 : 1e-12 * (1 + dice.below(30));
    const int replicas = 1 + dice.below(6);
    EventIndex index(rules, static_cast<std::size_t>(replicas));
    Picoseconds now = 0;
    index.events().read(&now);
    const Picoseconds ttl = picoseconds(rules.speculative_s, "ttl");
    PlainIndex plain(static_cast<std::size_t>(rules.most_holders), picoseconds(rules.lag_s, "lag"),
                     ttl);
    PlainIndex confirmed(0, picoseconds(rules.lag_s, "lag"), ttl);
    REQUIRE(index.speculates() == (ttl > 0));
    for (int turn = 0; turn < 400; ++turn) {
      now += dice.below(4);
      const std::vector<std::uint64_t> hashes = draw_prompt(dice);
      const int replica = dice.below(replicas);
      index.hear(now);
      plain.hear(now);
      confirmed.hear(now);
      if (ttl > 0 && dice.below(3) == 0) {
        index.speculate(replica, hashes, now);
        if (!hashes.empty()) plain.speculate(replica, hashes, now);
      } else {
        const bool kept = dice.below(4) > 0;
        index.events().tell(replica, kept, hashes);
        plain.tell(replica, kept, hashes, now);
        confirmed.tell(replica, kept, hashes, now);
      }
      index.hear(now);
      plain.hear(now);
      confirmed.hear(now);
      const auto found = index.match(hashes, now);
      std::vector<std::int32_t> holders;
      for (int r = 0; r < replicas; ++r) {
        const int count = plain.matched(r, hashes);
        REQUIRE(index.matched(r) == count);
        if (count > 0) holders.push_back(r);
        hits += count > 0;
        only_speculative += count > confirmed.matched(r, hashes);
      }
      REQUIRE(std::vector<std::int32_t>(found.begin(), found.end()) == holders);
    }
    ended += plain.ended;
  }
  CHECK(hits > 5000);
  CHECK(ended > 2000);
  CHECK(only_speculative > 1000);
}

TEST_CASE("a prefix that more replicas have than a block has entries loses what follows it") {
  RouterIndex rules;
  rules.kind = RouterIndex::Kind::told;
  rules.capacity_blocks = 100;
  rules.most_holders = 2;
  EventIndex index(rules, 3);
  Picoseconds now = 0;
  index.events().read(&now);
  const std::uint64_t first[] = {1, 2}, second[] = {1, 3}, third[] = {1, 4};
  index.events().tell(0, true, first);
  index.events().tell(1, true, second);
  index.hear(now);
  index.match(first, now);
  CHECK(index.matched(0) == 2);
  index.events().tell(2, true, third);  // block 1 of replica 0 gives way, and with it block 2
  index.hear(now);
  index.match(first, now);
  CHECK(index.matched(0) == 0);
  CHECK(index.matched(1) == 1);
  CHECK(index.matched(2) == 1);
}

TEST_CASE("what was sent is believed until its own time, also where it was sent again") {
  RouterIndex rules;
  rules.kind = RouterIndex::Kind::told;
  rules.capacity_blocks = 100;
  rules.speculative_s = 10e-12;
  EventIndex index(rules, 2);
  Picoseconds now = 0;
  index.events().read(&now);
  const std::uint64_t prompt[] = {1, 2, 3};
  const auto held = [&](Picoseconds time) {
    index.hear(time);
    index.match(prompt, time);
    return index.matched(1);
  };
  index.speculate(1, prompt, 0);
  CHECK(held(5) == 3);
  index.speculate(1, std::span(prompt).first(2), 5);
  CHECK(held(9) == 3);
  CHECK(held(10) == 0);  // the first prompt took its entries along
  index.speculate(1, prompt, 20);
  now = 22;
  index.events().tell(1, true, prompt);
  CHECK(held(29) == 3);
  CHECK(held(30) == 3);  // by the event
}
