#pragma once
// An encoder and its cache, written naively: a list of what is kept, looked through every time.

#include <algorithm>
#include <set>
#include <vector>

#include "tests/reference/cases/items.h"

namespace rooflua::reference {

class NaiveEncoder {
 public:
  NaiveEncoder(const ItemCase& items, const ServingCase& question)
      : items_(items), question_(question), known_(question.prompts.size()) {}

  struct Chunk {
    int id = 0, from = 0, to = 0;
  };
  /// How many of the tokens behind `from` a plan may have beside these chunks.
  int encodable(const Chunk& wanted, const std::vector<Chunk>& planned) const;
  /// A plan is complete. `gone`: who lost its seat in it, in that order.
  void plan(const std::vector<Chunk>& chunks, const std::vector<int>& gone);
  /// The time of the pass of the last plan, once.
  Ps take_pass();

  int encoded = 0, found = 0;

 private:
  struct Item {
    int from = 0, to = 0;
    std::uint64_t content = 0;
    int tokens() const { return to - from; }
  };
  struct Kept {
    std::uint64_t content;
    int tokens;
    std::set<int> users;
    int since;
  };
  std::vector<Item> of(int id) const;
  std::vector<Item> entries_of(int id) const;
  const Kept* kept(std::uint64_t content) const;
  bool need(const Item& entry, int id);
  void drop_unused(int room);
  void leave(std::uint64_t content, int id);

  const ItemCase& items_;
  const ServingCase& question_;
  std::vector<std::set<int>> known_;  // by request: places of items that were computed or found
  std::vector<Kept> kept_;
  int clock_ = 0;
  Ps pass_ = 0;
};

}  // namespace rooflua::reference
