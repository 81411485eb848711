#include "serve/inbox/inbox.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace rooflua {

std::int32_t Inbox::send(RequestSpec spec, std::vector<Segment> segments) {
  ROOFLUA_ASSERT(is_open_);
  spec.row = rows_++;
  spec.segments = {};
  sent_.push_back({spec, std::move(segments)});
  return spec.row;
}

std::int32_t Inbox::next_length() {
  RequestSpec spec;
  if (lengths_ != nullptr && known_lengths_.size() < most_lengths && lengths_->next(spec)) {
    known_lengths_.push_back(spec.output_tokens);
    return spec.output_tokens;
  }
  lengths_.reset();
  if (known_lengths_.empty()) return 0;
  return known_lengths_[next_length_++ % known_lengths_.size()];
}

bool Inbox::next(RequestSpec& spec) {
  if (sent_.empty()) return false;
  segments_ = std::move(sent_.front().segments);
  spec = sent_.front().spec;
  spec.segments = segments_;
  sent_.pop_front();
  return true;
}

/// While it is open something will happen, so that requests without a replica go on waiting.
Picoseconds Inbox::due() const {
  const Picoseconds at_last = is_open_ ? picoseconds(latest_s, "inbox") : never;
  return leaving_.empty() ? at_last : std::min(at_last, leaving_.front().time);
}

void Inbox::on_due(Picoseconds now, Client& client) {
  while (!leaving_.empty() && leaving_.front().time <= now) client.cancel_row(leaving_.pop().row);
}

}  // namespace rooflua
