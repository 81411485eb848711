#pragma once
// Parts that a random question to a cluster gets.

#include "tests/reference/cases/cluster.h"

namespace rooflua::reference {

/// @param calm  what comes of the case without them
void draw_faults(ClusterCase& cluster, const History& calm);
void draw_pools(ClusterCase& cluster, const History& calm);
void draw_experts(ClusterCase& cluster);

StoreCase draw_store(Dice& dice, int block_size);
/// Whether decodes of all replicas are content as their blocks are filled, one token a step.
bool stores_answers(const ClusterCase& cluster);

AdapterCase draw_adapters(const ServingCase& question);
/// The same question, whose requests have adapters.
ServingCase with_adapters(ServingCase question, const AdapterCase& adapters);

/// Prefill and decode split, KV pushed by chunks, some prompts computed by their decode replica.
ClusterCase pushed(ClusterCase cluster);

}  // namespace rooflua::reference
