#include "serve/contract/workload.h"

#include <utility>

namespace rooflua {

ListedWorkload::ListedWorkload(std::vector<RequestSpec> specs) : specs_(std::move(specs)) {
  for (const RequestSpec& spec : specs_) {
    for (const Segment& segment : spec.segments) shares_ = shares_ || segment.content != 0;
  }
}

bool ListedWorkload::next(RequestSpec& spec) {
  if (cursor_ == specs_.size()) return false;
  spec = specs_[cursor_++];
  return true;
}

}  // namespace rooflua
