#include "serve/links/wires.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace rooflua {

namespace {

/// The same nodes, numbered from 0 without gaps.
std::vector<std::int32_t> numbered(std::vector<std::int32_t> nodes) {
  std::vector<std::int32_t> known = nodes;
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  for (std::int32_t& each : nodes)
    each = static_cast<std::int32_t>(std::lower_bound(known.begin(), known.end(), each) -
                                     known.begin());
  return nodes;
}

/// Wires of the link at one place.
std::int32_t ways(const LinkConfig& link) {
  return link.per != LinkScope::cluster && link.duplex ? 2 : 1;
}

}  // namespace

Wires::Wires(const std::vector<LinkConfig>& links, std::vector<std::int32_t> nodes)
    : links_(links), nodes_(numbered(std::move(nodes))) {
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const LinkConfig& link = links_[i];
    first_.push_back(static_cast<std::int32_t>(wires_.size()));
    std::size_t count = 1;
    if (link.per == LinkScope::replica) count = nodes_.size();
    if (link.per == LinkScope::node) count = static_cast<std::size_t>(this->nodes());
    if (ways(link) == 2) count *= 2;
    wires_.insert(wires_.end(), count,
                  {link.bytes_per_s, link.streams, static_cast<std::int32_t>(i)});
  }
}

std::int32_t Wires::link_named(std::string_view name, const std::string& where) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (links_[i].name == name) return static_cast<std::int32_t>(i);
    names.push_back(links_[i].name);
  }
  throw Error(where, unknown_name("link", name, names));
}

std::int32_t Wires::place(LinkScope per, std::int32_t replica) const {
  if (per == LinkScope::cluster) return 0;
  return per == LinkScope::node ? node(replica) : replica;
}

std::int32_t Wires::nodes() const {
  return *std::max_element(nodes_.begin(), nodes_.end()) + 1;
}

std::vector<std::int32_t> Wires::of_link(std::int32_t link, std::int32_t replica) const {
  std::vector<std::int32_t> out;
  if (replica >= 0) {
    add_way(link, replica, Way::out, out);
    add_way(link, replica, Way::in, out);
    if (out.front() == out.back()) out.pop_back();
    return out;
  }
  for (std::size_t i = 0; i < wires_.size(); ++i)
    if (wires_[i].link == link) out.push_back(static_cast<std::int32_t>(i));
  return out;
}

void Wires::add_way(std::int32_t link, std::int32_t replica, Way way,
                    std::vector<std::int32_t>& path) const {
  const LinkConfig& config = links_[static_cast<std::size_t>(link)];
  const std::int32_t first = first_[static_cast<std::size_t>(link)];
  const std::int32_t behind = way == Way::in ? ways(config) - 1 : 0;
  path.push_back(first + ways(config) * place(config.per, replica) + behind);
}

void Wires::add_to_path(std::int32_t link, std::int32_t from, std::int32_t to,
                        std::vector<std::int32_t>& path) const {
  const LinkConfig& config = links_[static_cast<std::size_t>(link)];
  const std::int32_t first = first_[static_cast<std::size_t>(link)];
  const std::int32_t out = first + ways(config) * place(config.per, from);
  const std::int32_t in = first + ways(config) * place(config.per, to) + ways(config) - 1;
  path.push_back(out);
  if (in != out) path.push_back(in);
}

}  // namespace rooflua
