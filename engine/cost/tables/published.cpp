#include "cost/tables/published.h"

#include <mutex>

#include "base/error.h"

namespace rooflua {
namespace {

/// Made at its first use, which may be while other objects of the program are made.
PublishedTables& known() {
  static PublishedTables tables;
  return tables;
}

}  // namespace

void set_published_tables(PublishedTables reader) {
  static std::once_flag once;
  std::call_once(once, [&] { known() = std::move(reader); });
}

const PublishedTables& published_tables() {
  if (!known().read) throw Error("layout aic", "is read by scripts, which are not open here");
  return known();
}

}  // namespace rooflua
