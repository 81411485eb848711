#include "measure/record/play_rows.h"

#include <algorithm>
#include <utility>

namespace rooflua {

bool PlayRows::on_done(const RequestDone& done) {
  const auto found = under_way_.find(done.id);
  if (found == under_way_.end()) return false;
  PlayRequest request = found->second.request;
  request.outcome = done.outcome;
  request.sent = done.arrival;
  request.scheduled = done.scheduled;
  request.first_token = done.first_token;
  request.end = done.now;
  request.load = done.load;
  ended_[found->second.play].push_back(request);
  under_way_.erase(found);
  return true;
}

std::vector<PlayRequest> PlayRows::take(std::int64_t play) {
  const auto found = ended_.find(play);
  if (found == ended_.end()) return {};
  std::vector<PlayRequest> out = std::move(found->second);
  ended_.erase(found);
  std::sort(out.begin(), out.end(),
            [](const PlayRequest& a, const PlayRequest& b) { return a.row < b.row; });
  return out;
}

PlayEnded::PlayEnded(const PlayDone& done)
    : play(done.play),
      name(done.name == nullptr ? "" : *done.name),
      start(done.start),
      end(done.end),
      cut(done.cut),
      completed(done.completed),
      failed(done.failed),
      cancelled(done.cancelled),
      left_out(done.left_out) {}

}  // namespace rooflua
