#include "cost/tables/published.h"

#include <mutex>

#include "base/error.h"

namespace rooflua {
namespace {

std::once_flag once;
PublishedTables known;

}  // namespace

void set_published_tables(PublishedTables reader) {
  std::call_once(once, [&] { known = std::move(reader); });
}

const PublishedTables& published_tables() {
  if (!known.read) throw Error("layout aic", "is read by scripts, which are not open here");
  return known;
}

}  // namespace rooflua
