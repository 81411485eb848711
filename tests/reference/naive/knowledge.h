#pragma once
// What a router knows of the prompts that it sent, by comparing tokens: lists of blocks, of which
// each is all tokens from the first one of its prompt on.

#include <list>
#include <vector>

#include "serve/contract/policy.h"
#include "tests/reference/plain.h"

namespace rooflua::reference {

using Beginning = std::vector<Token>;

class NaiveKnowledge {
 public:
  NaiveKnowledge(const RouterIndex& rules, std::size_t replicas) : rules_(rules), sent_(replicas) {}
  void send(int id, const PlainRequest& request, int replica, int tokens, Ps now);
  void expect(int id, int replica, int tokens);
  void compute(int id, int replica);
  void end(int id, int replica);

  int sent_tokens(const PlainRequest& request, int replica, Ps now) const;
  double sent_blocks(int replica) const {
    return static_cast<double>(sent_[static_cast<std::size_t>(replica)].size());
  }
  double prefill_tokens(int replica) const;
  double blocks(int replica) const;
  int shared_blocks(const PlainRequest& request, int replica) const;
  const RouterIndex& rules() const { return rules_; }

 private:
  struct Block {
    Beginning tokens;
    Ps used = 0;
  };
  struct Sent {
    int id = 0, replica = 0, tokens = 0;
    std::vector<Beginning> blocks;
  };
  std::vector<Beginning> blocks_of(const PlainRequest& request) const;
  std::vector<Beginning> blocks_at(int replica) const;

  RouterIndex rules_;
  std::vector<std::list<Block>> sent_;  // by replica; used the longest ago first
  std::vector<Sent> in_flight_;
};

}  // namespace rooflua::reference
