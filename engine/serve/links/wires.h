#pragma once
// Links as a cluster declares them, and the wires that they are made of: a link of each replica or
// node has a wire per replica or node, and, where it is duplex, one in each direction.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/vocabulary.h"
#include "spec/figures/figure.h"

namespace rooflua {

enum class LinkScope : std::int32_t { replica, node, cluster };
inline constexpr Word<LinkScope> link_scope_words[] = {
    {LinkScope::replica, "replica", "each replica has one"},
    {LinkScope::node, "node", "each node has one, and its replicas share it"},
    {LinkScope::cluster, "cluster", "there is one, and all replicas share it"},
};

/// A member with a row in links/figures.cpp has its unit, its bounds and its sentence there.
struct LinkConfig {
  std::string name;
  double bytes_per_s = 0;
  double alpha_s = 0;
  LinkScope per = LinkScope::node;
  bool duplex = true;
  std::int32_t streams = 0;
};

template <>
const FigureTable& figures<LinkConfig>();

/// Where the wires of every link are. A transfer from one replica to another takes, of each link on
/// its path, the wire that leaves the sender and the one that enters the receiver; both are one
/// where a link is the cluster's, or of one node and not duplex.
class Wires {
 public:
  /// @param nodes  of each replica
  Wires(const std::vector<LinkConfig>& links, std::vector<std::int32_t> nodes);

  struct Wire {
    double bytes_per_s = 0;
    std::int32_t streams = 0;
    std::int32_t link = 0;
  };
  const std::vector<Wire>& all() const { return wires_; }
  const std::vector<LinkConfig>& links() const { return links_; }
  /// The place of the link with this name. @throws Error at `where` if there is none
  std::int32_t link_named(std::string_view name, const std::string& where) const;
  bool on_one_node(std::int32_t a, std::int32_t b) const { return node(a) == node(b); }
  /// Appends the wires of a link that a transfer takes.
  void add_to_path(std::int32_t link, std::int32_t from, std::int32_t to,
                   std::vector<std::int32_t>& path) const;
  /// Appends the wire that leaves a replica, or the one that enters it.
  enum class Way : std::int32_t { out, in };
  void add_way(std::int32_t link, std::int32_t replica, Way way,
               std::vector<std::int32_t>& path) const;
  /// Wires of a link: those of one replica, or of its node; -1: all of them.
  std::vector<std::int32_t> of_link(std::int32_t link, std::int32_t replica) const;
  std::int32_t nodes() const;
  std::int32_t node_of(std::int32_t replica) const { return node(replica); }

 private:
  std::int32_t node(std::int32_t replica) const {
    return nodes_[static_cast<std::size_t>(replica)];
  }
  std::int32_t place(LinkScope per, std::int32_t replica) const;

  std::vector<LinkConfig> links_;
  std::vector<std::int32_t> nodes_;  // by replica, from 0 without gaps
  std::vector<Wire> wires_;
  std::vector<std::int32_t> first_;  // wire of each link
};

}  // namespace rooflua
