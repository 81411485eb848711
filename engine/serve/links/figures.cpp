// The figures of links, one row each.

#include "serve/contract/clock.h"
#include "serve/links/wires.h"
#include "spec/figures/deployment.h"
#include "spec/figures/rows.h"

namespace rooflua {

namespace {

using enum Stated;

constexpr auto link_rows = rows_of<LinkConfig>(
    figure<&LinkConfig::bytes_per_s>("bytes_per_s", "bytes/s", 0, 1e30, needed,
                                     "bandwidth of one of its wires, in one direction"),
    figure<&LinkConfig::alpha_s>("alpha_s", "s", 0, latest_s, open,
                                 "before the first byte of each transfer"),
    word<&LinkConfig::per, link_scope_words>("per", open, "what shares one of its wires"),
    figure<&LinkConfig::duplex>("duplex", open, "whether each direction has a wire of its own"),
    figure<&LinkConfig::streams>(
        "streams", "transfers", 0, 1e6, open,
        "transfers that a wire carries at once, others wait; 0: no limit"));

}  // namespace

template <>
const FigureTable& figures<LinkConfig>() {
  static const auto table =
      table_of<LinkConfig>("LinkConfig", "A link that transfers share.", link_rows);
  return table;
}

}  // namespace rooflua
