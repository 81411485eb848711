#include "serve/links/kv_links.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace rooflua {

namespace {

std::vector<std::int32_t> places(const Wires& wires, const std::vector<std::string>& names,
                                 const std::string& where) {
  std::vector<std::int32_t> out;
  for (std::size_t i = 0; i < names.size(); ++i)
    out.push_back(wires.link_named(names[i], where + "[" + std::to_string(i + 1) + "]"));
  return out;
}

}  // namespace

KvLinks::KvLinks(const std::vector<LinkConfig>& links, std::vector<std::int32_t> nodes,
                 const KvPath& path)
    : wires_(links, std::move(nodes)),
      between_(places(wires_, path.between, "transfer.path")),
      within_(places(wires_, path.within, "transfer.within")),
      flows_(wires_) {}

/// Places of the links that a transfer takes.
const std::vector<std::int32_t>& KvLinks::links_of(std::int32_t from, std::int32_t to) const {
  return !within_.empty() && wires_.on_one_node(from, to) ? within_ : between_;
}

FlowRequest KvLinks::flow_of(const Sent& sent) const {
  FlowRequest flow{.path = {},
                   .bytes = sent.bytes,
                   .alpha_s = sent.alpha_s,
                   .slot = sent.slot,
                   .from = sent.from,
                   .to = sent.to};
  if (sent.bytes_per_s > 0) flow.bytes_per_s = sent.bytes_per_s;
  const bool goes_away = sent.to < 0;
  for (const std::int32_t link : goes_away ? between_ : links_of(sent.from, sent.to)) {
    flow.alpha_s += wires_.links()[static_cast<std::size_t>(link)].alpha_s;
    if (goes_away)
      wires_.add_way(link, sent.from, Wires::Way::out, flow.path);
    else
      wires_.add_to_path(link, sent.from, sent.to, flow.path);
  }
  return flow;
}

void KvLinks::send(const Sent& sent, Picoseconds now) {
  flows_.start(flow_of(sent), now);
}

void KvLinks::send_away(const Sent& sent, Errand errand, std::int32_t ticket, Picoseconds now) {
  FlowRequest flow = flow_of(sent);
  flow.errand = errand;
  flow.ticket = ticket;
  flows_.start(std::move(flow), now);
}

double KvLinks::expected_s(const Sent& sent) const {
  const FlowRequest flow = flow_of(sent);
  return flow.alpha_s + flow.bytes / std::min(flow.bytes_per_s, flows_.share_of(flow.path));
}

}  // namespace rooflua
