#pragma once
// A lookup that the user wrote, as a function: what it is asked, and what it answers.

#include <functional>
#include <memory>

#include "cost/price/evidence.h"
#include "cost/tables/kernel_table.h"

namespace rooflua {

class TableStore;

/// What a user's lookup returns: a latency or an MFU, and how good it is.
struct UserAnswer {
  double value = 0;
  bool is_mfu = false;
  Evidence evidence = Evidence::assumed;
};
/// What a user's lookup is asked.
struct UserQuestion {
  const std::shared_ptr<const TableStore>& store;  // has every table of the op
  const KernelTable& table;                        // whose rows come closest to the query's shape
  const Query& query;
};
/// A lookup written elsewhere (in Lua). Never called where no table has the op. Pure: its answers
/// are remembered.
using UserLookup = std::function<UserAnswer(const UserQuestion&)>;

}  // namespace rooflua
