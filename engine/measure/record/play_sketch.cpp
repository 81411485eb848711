#include "measure/record/play_sketch.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace rooflua {

namespace {

Picoseconds time_of(const PlayEnded& play) {
  return play.end - play.start;
}

/// Keeps the `most` rows for which `time` is largest, in their order. The others are counted.
template <class Time>
void keep_longest(std::vector<DrawnRow>& rows, std::size_t most, Time time, std::int64_t& left,
                  Picoseconds& left_time) {
  if (rows.size() <= most) return;
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const DrawnRow& a, const DrawnRow& b) { return time(a) > time(b); });
  for (std::size_t i = most; i < rows.size(); ++i) {
    ++left;
    left_time += time(rows[i]);
  }
  rows.resize(most);
}

DrawnRow drawn_row(const PlayRequest& request, Picoseconds start) {
  DrawnRow out;
  out.row = request.row;
  out.id = request.id;
  out.outcome = request.outcome;
  const Picoseconds scheduled = std::min(request.scheduled, request.end);
  out.sent = request.sent - start;
  out.scheduled = scheduled - start;
  out.first_token = std::clamp(request.first_token, scheduled, request.end) - start;
  out.end = request.end - start;
  out.load = std::min(request.load, scheduled - request.sent);
  return out;
}

}  // namespace

DrawnPlay::DrawnPlay(const PlayDone& done, const std::vector<PlayRequest>& requests) : play(done) {
  std::map<std::int32_t, std::size_t> on_path;  // by row: its place
  for (std::size_t i = 0; i < done.path.size(); ++i) on_path[done.path[i].row] = i;
  std::vector<DrawnRow> path, beside;
  for (const PlayRequest& request : requests) {
    if (request.warm) continue;
    DrawnRow row = drawn_row(request, done.start);
    const auto found = on_path.find(request.row);
    if (found == on_path.end()) {
      beside.push_back(row);
      continue;
    }
    const PlayStep& step = done.path[found->second];
    row.on_path = true;
    row.from = step.sent - step.times.tool - done.start;
    if (found->second > 0) row.after = done.path[found->second - 1].row;
    path.push_back(row);
  }
  const std::size_t few_beside = std::min(beside.size(), most_rows - most_on_path);
  keep_longest(
      path, most_rows - few_beside, [](const DrawnRow& row) { return row.end - row.from; },
      path_left, path_left_time);
  Picoseconds unused = 0;
  keep_longest(
      beside, most_rows - path.size(), [](const DrawnRow& row) { return row.end - row.sent; },
      beside_left, unused);
  rows = std::move(path);
  rows.insert(rows.end(), beside.begin(), beside.end());
  std::sort(rows.begin(), rows.end(), [](const DrawnRow& a, const DrawnRow& b) {
    return a.sent != b.sent ? a.sent < b.sent : a.row < b.row;
  });
}

void PlaySketch::on_play(const PlayDone& done) {
  DrawnPlay drawn(done, rows_.take(done.play));
  if (done.play == asked_) asked_play_ = drawn;
  if (!drawn.play.counts()) return;
  const std::int64_t number = times_.count();
  times_.add(time_of(drawn.play));
  if (!slowest_ || time_of(drawn.play) > time_of(slowest_->play)) slowest_ = drawn;
  if (number % stride_ != 0) return;
  kept_.push_back({number, std::move(drawn)});
  if (kept_.size() <= most_kept) return;
  stride_ *= 2;
  std::erase_if(kept_, [&](const Kept& each) { return each.number % stride_ != 0; });
}

const DrawnPlay* PlaySketch::median() const {
  if (kept_.empty()) return nullptr;
  if (stride_ > 1) {
    const double median = times_.quantile(0.5);
    const auto distance = [&](const Kept& each) {
      return std::abs(static_cast<double>(time_of(each.drawn.play)) - median);
    };
    return &std::min_element(kept_.begin(), kept_.end(), [&](const Kept& a, const Kept& b) {
              return distance(a) < distance(b);
            })->drawn;
  }
  std::vector<const DrawnPlay*> order;
  for (const Kept& each : kept_) order.push_back(&each.drawn);
  std::sort(order.begin(), order.end(), [](const DrawnPlay* a, const DrawnPlay* b) {
    const Picoseconds x = time_of(a->play), y = time_of(b->play);
    return x != y ? x < y : a->play.play > b->play.play;
  });
  return order[(order.size() + 1) / 2 - 1];
}

namespace {

Json row_json(const DrawnRow& row) {
  Json out = Json::object();
  out["row"] = row.row + 1;
  out["request"] = row.id;
  out["outcome"] = name(row.outcome);
  out["sent_s"] = seconds(row.sent);
  out["scheduled_s"] = seconds(row.scheduled);
  out["first_token_s"] = seconds(row.first_token);
  out["end_s"] = seconds(row.end);
  if (row.load > 0) out["load_s"] = seconds(row.load);
  if (!row.on_path) return out;
  out["from_s"] = seconds(row.from);
  if (row.after >= 0) out["after"] = row.after + 1;
  return out;
}

Json play_json(const DrawnPlay& drawn) {
  Json out = Json::object();
  out["what"] = Json::array();
  out["play"] = drawn.play.play + 1;
  if (!drawn.play.name.empty()) out["name"] = drawn.play.name;
  out["play_s"] = seconds(time_of(drawn.play));
  out["rows"] = Json::array();
  for (const DrawnRow& each : drawn.rows) out["rows"].push_back(row_json(each));
  out["path_left"] = drawn.path_left;
  out["path_left_s"] = seconds(drawn.path_left_time);
  out["beside_left"] = drawn.beside_left;
  return out;
}

}  // namespace

Json PlaySketch::json() const {
  Json::Array out;
  const auto add = [&](const DrawnPlay* drawn, const char* what) {
    if (drawn == nullptr) return;
    auto found = std::find_if(out.begin(), out.end(), [&](const Json& each) {
      return each.find("play")->integer() == drawn->play.play + 1;
    });
    if (found == out.end()) found = out.insert(out.end(), play_json(*drawn));
    (*found)["what"].push_back(what);
  };
  add(asked_play_ ? &*asked_play_ : nullptr, "asked");
  add(median(), "median");
  if (stride_ > 1)
    for (Json& each : out)
      if (each.find("what")->items().back().text() == "median")
        each["median_s"] = times_.quantile(0.5) * 1e-12;
  add(slowest_ ? &*slowest_ : nullptr, "slowest");
  return out.empty() ? Json() : Json(std::move(out));
}

}  // namespace rooflua
