#pragma once
// NCCL's own cost model of an all-reduce in one node: what its tuner compares to choose an
// algorithm and a protocol. It prices links of which there are no rows: more than two ranks over
// the bus of a host, where engines call NCCL, and more than eight ranks over links.
//
//     time = base + steps * latency + x / (link * share * algorithm's factor)     x = bytes of a
//     rank
//
// The least of all algorithms and protocols counts. Constants: NVIDIA/nccl, src/graph/tuning.cc
// (latencies, shares) at b6475625, and src/graph/topo.h (what a link carries); BSD licence.

namespace rooflua {

/// @param link_bytes_per_s  of the datasheet, one direction
/// @param over_bus          ranks reach each other over the bus of their host
/// @return seconds
double nccl_all_reduce_s(double bytes, int ranks, double link_bytes_per_s, bool over_bus);

}  // namespace rooflua
