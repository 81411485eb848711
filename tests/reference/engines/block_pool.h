#pragma once
// vLLM's block pool, literally: reference counts, a free queue, chained hashes of full blocks.
// A block's hash is the number of its (parent hash, tokens) in a table, so two different contents
// never collide.

#include <list>
#include <map>
#include <utility>
#include <vector>

#include "tests/reference/plain.h"

namespace rooflua::reference {

class BlockPool {
 public:
  BlockPool(int blocks, bool caching);

  int free_blocks() const { return static_cast<int>(queue_.size()); }
  int references(int block) const { return blocks_[static_cast<std::size_t>(block)].references; }

  /// The hash of a full block that follows a block with hash `parent` (-1: the first).
  int hash(int parent, std::vector<Token> tokens);
  /// The block with this content that got it first; -1: none. Never one without caching.
  int find(int hash) const;

  /// The most tokens at the left that content after `parent` has in common with these.
  int common(int parent, const std::vector<Token>& tokens) const;

  /// Takes a block out of the free queue if it lies there, and counts one more reference.
  void touch(int block);
  /// A block from the head of the queue; its content is forgotten. @pre free_blocks() > 0
  int pop();
  /// Hashes of which pop() took the last block since the last call, in that order.
  std::vector<int> take_lost() { return std::exchange(lost_, {}); }
  /// The parent of a hash, and the tokens of its block.
  const std::pair<int, std::vector<Token>>& content(int hash) const {
    return contents_[static_cast<std::size_t>(hash)];
  }
  void set_hash(int block, int hash);
  /// Its content is not there after all.
  void drop_hash(int block);
  /// No block has content any more.
  void forget();
  /// Gives back a request's blocks, deepest first: without hash to the head (reused first), with
  /// hash to the tail.
  void free_all(const std::vector<int>& blocks);

 private:
  struct Block {
    int references = 0;
    int hash = -1;
    std::list<int>::iterator place;
  };
  std::vector<Block> blocks_;
  std::list<int> queue_;
  std::map<int, std::vector<int>> by_hash_;  // candidates, in the order they got it
  std::map<std::pair<int, std::vector<Token>>, int> hashes_;
  std::vector<std::pair<int, std::vector<Token>>> contents_;  // by hash
  std::vector<int> lost_;
  bool caching_;
};

}  // namespace rooflua::reference
