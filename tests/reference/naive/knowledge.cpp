#include "tests/reference/naive/knowledge.h"

#include <algorithm>

namespace rooflua::reference {

std::vector<Beginning> NaiveKnowledge::blocks_of(const PlainRequest& request) const {
  std::vector<Beginning> out;
  const int size = rules_.block_tokens;
  for (int end = size; end <= std::min(request.prompt, rules_.most_tokens); end += size)
    out.emplace_back(request.tokens.begin(), request.tokens.begin() + end);
  return out;
}

void NaiveKnowledge::send(int id, const PlainRequest& request, int replica, int tokens, Ps now) {
  std::vector<Beginning> blocks = blocks_of(request);
  in_flight_.push_back({id, replica, tokens, blocks});
  if (rules_.deepest_first) std::reverse(blocks.begin(), blocks.end());
  std::list<Block>& own = sent_[static_cast<std::size_t>(replica)];
  for (const Beginning& block : blocks) {
    own.remove_if([&](const Block& each) { return each.tokens == block; });
    own.push_back({block, now});
    while (static_cast<int>(own.size()) > rules_.capacity_blocks) own.pop_front();
  }
}

void NaiveKnowledge::expect(int id, int replica, int tokens) {
  for (Sent& each : in_flight_)
    if (each.id == id && each.replica == replica) each.tokens = tokens;
}

void NaiveKnowledge::compute(int id, int replica) {
  for (Sent& each : in_flight_)
    if (each.id == id && each.replica == replica) each.tokens = 0;
}

void NaiveKnowledge::end(int id, int replica) {
  std::erase_if(in_flight_,
                [&](const Sent& each) { return each.id == id && each.replica == replica; });
}

int NaiveKnowledge::sent_tokens(const PlainRequest& request, int replica, Ps now) const {
  int tokens = 0;
  const Ps ttl = picoseconds(rules_.ttl_s, "ttl");
  for (const Beginning& block : blocks_of(request)) {
    const std::list<Block>& own = sent_[static_cast<std::size_t>(replica)];
    const auto found = std::find_if(own.begin(), own.end(),
                                    [&](const Block& each) { return each.tokens == block; });
    if (found == own.end() || (ttl > 0 && now - found->used >= ttl)) break;
    tokens = static_cast<int>(block.size());
  }
  return tokens;
}

double NaiveKnowledge::prefill_tokens(int replica) const {
  double sum = 0;
  for (const Sent& each : in_flight_) sum += each.replica == replica ? each.tokens : 0;
  return sum;
}

/// Each once.
std::vector<Beginning> NaiveKnowledge::blocks_at(int replica) const {
  std::vector<Beginning> out;
  for (const Sent& each : in_flight_) {
    if (each.replica != replica) continue;
    out.insert(out.end(), each.blocks.begin(), each.blocks.end());
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

double NaiveKnowledge::blocks(int replica) const {
  return static_cast<double>(blocks_at(replica).size());
}

int NaiveKnowledge::shared_blocks(const PlainRequest& request, int replica) const {
  const std::vector<Beginning> there = blocks_at(replica);
  int count = 0;
  for (const Beginning& block : blocks_of(request)) {
    if (!std::binary_search(there.begin(), there.end(), block)) break;
    ++count;
  }
  return count;
}

}  // namespace rooflua::reference
