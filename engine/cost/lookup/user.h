#pragma once
// A lookup written by the user (in Lua), as one of ours.

#include "cost/lookup/lookup.h"
#include "cost/lookup/user_lookup.h"

namespace rooflua {

/// Finds the table whose shape is closest to the query's and asks the function.
/// @throws Error if it answers with something that is not a positive finite number
std::unique_ptr<Lookup> user_lookup(const LookupContext& context, std::string name,
                                    UserLookup function);

/// The table of the query's op and dtype whose rows come closest to its shape, of the engine before
/// those of others; null if there is none.
const KernelTable* closest_table(const TableStore& store, const Query& query,
                                 const std::string& engine);

}  // namespace rooflua
