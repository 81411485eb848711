// The second half of why_play.h: as text and as a document. Plays and rows count from 1, as in the
// workload that gave them; requests from 0.

#include <algorithm>
#include <set>

#include "measure/record/why_play.h"
#include "measure/write/report.h"
#include "measure/write/table.h"

namespace rooflua {

namespace {

constexpr std::size_t most_rows = 50;  // of a path in the text

std::string time_text(Picoseconds time) {
  return time == 0 ? "" : duration(seconds(time));
}

double part_of(Picoseconds part, Picoseconds whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

/// "45 completed, 1 failed, 3 never sent"
std::string counts_of(const PlayEnded& play) {
  std::string out = grouped(play.completed) + " completed";
  const auto add = [&](std::int32_t count, const char* what) {
    if (count > 0) out += ", " + grouped(count) + " " + what;
  };
  add(play.failed, "failed");
  add(play.cancelled, "cancelled");
  add(play.left_out, "never sent");
  return out;
}

std::string headline(const WhyPlay& why) {
  const PlayEnded& play = why.play;
  return "play " + std::to_string(play.play + 1) + (play.name.empty() ? "" : " " + play.name) +
         "  " + duration(seconds(play.end - play.start)) + " from " +
         duration(seconds(play.start)) + " to " + duration(seconds(play.end)) +
         "; requests: " + counts_of(play) +
         (play.cut ? "; it was cut short by the end of the workload" : "") + "\n\n";
}

/// What most of a row's time was spent on.
std::string largest_part(const PathTime& where) {
  const auto most = std::max_element(where.time.begin(), where.time.end());
  if (where.sum() == 0) return "";
  if (where.tool >= *most) return "tool delay";
  return std::string(name(static_cast<LatencyHeading>(most - where.time.begin())));
}

/// The rows of the path that took longest, up to most_rows.
std::set<std::size_t> listed_rows(const WhyPlay& why) {
  std::vector<std::size_t> order(why.path.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return why.path[a].where.sum() > why.path[b].where.sum();
  });
  order.resize(std::min(order.size(), most_rows));
  return {order.begin(), order.end()};
}

std::string waited_for(const WhyPlay& why, std::size_t index) {
  if (index == 0) return "its start";
  const PlayStep& before = why.path[index - 1].step;
  return "row " + std::to_string(before.row + 1) + " " + std::string(name(before.event));
}

void add_times(std::vector<std::string>& row, const PlayTimes& times) {
  for (const Picoseconds each : {times.tool, times.queue, times.load, times.prefill, times.decode})
    row.push_back(time_text(each));
  row.push_back(duration(seconds(times.sum())));
}

void add(PlayTimes& sum, const PlayTimes& times) {
  sum.tool += times.tool;
  sum.queue += times.queue;
  sum.load += times.load;
  sum.prefill += times.prefill;
  sum.decode += times.decode;
}

/// A table without the columns in which no row has a time.
std::string without_empty_columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<bool> used(rows.front().size());
  for (std::size_t i = 1; i < rows.size(); ++i)
    for (std::size_t k = 0; k < rows[i].size(); ++k) used[k] = used[k] || !rows[i][k].empty();
  Table table;
  table.left(2);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + 1 == rows.size()) table.rule();
    std::vector<std::string> cells;
    for (std::size_t k = 0; k < rows[i].size(); ++k)
      if (used[k]) cells.push_back(rows[i][k]);
    table.add(cells);
  }
  return table.text(2);
}

std::string path_table(const WhyPlay& why) {
  std::vector<std::vector<std::string>> rows{{"row", "request", "waited for", "tool", "queue",
                                              "KV load", "prefill", "decode", "together",
                                              "mostly"}};
  const std::set<std::size_t> listed = listed_rows(why);
  PlayTimes others;
  for (std::size_t i = 0; i < why.path.size(); ++i) {
    const WhyPlay::Row& each = why.path[i];
    if (!listed.contains(i)) {
      add(others, each.step.times);
      continue;
    }
    rows.push_back(
        {std::to_string(each.step.row + 1), std::to_string(each.step.id), waited_for(why, i)});
    add_times(rows.back(), each.step.times);
    rows.back().push_back(largest_part(each.where));
  }
  if (const std::size_t count = why.path.size() - listed.size(); count > 0) {
    rows.push_back({"", "", grouped(static_cast<std::int64_t>(count)) + " shorter ones"});
    add_times(rows.back(), others);
    rows.back().push_back("");
  }
  rows.push_back({"", "", "critical path"});
  add_times(rows.back(), why.times);
  rows.back().push_back("");
  return without_empty_columns(rows);
}

std::string heading_table(const WhyPlay& why) {
  const Picoseconds whole = why.where.sum();
  Table table;
  const auto row = [&](std::string_view what, Picoseconds time) {
    if (time == 0) return;
    table.add({std::string(what), duration(seconds(time)), percent(part_of(time, whole))});
  };
  row("tool delay", why.where.tool);
  for (std::size_t i = 0; i < why.where.time.size(); ++i)
    row(name(static_cast<LatencyHeading>(i)), why.where.time[i]);
  table.rule();
  table.add({"play", duration(seconds(whole)), "100.0 %"});
  return table.text(2);
}

std::string beside_line(const WhyPlay& why) {
  if (why.beside.empty()) return "";
  std::int64_t warm = 0;
  std::array<std::int64_t, outcome_count> ended{};
  const PlayRequest* longest = nullptr;
  for (const PlayRequest& each : why.beside) {
    if (each.warm) {
      ++warm;
      continue;
    }
    ++ended[static_cast<std::size_t>(each.outcome)];
    if (longest == nullptr || each.end - each.sent > longest->end - longest->sent) longest = &each;
  }
  std::string parts;
  for (std::size_t i = 0; i < ended.size(); ++i) {
    if (ended[i] == 0) continue;
    parts += (parts.empty() ? "" : ", ") + grouped(ended[i]) + " " +
             std::string(name(static_cast<Outcome>(i)));
  }
  if (warm > 0) parts += (parts.empty() ? "" : ", ") + grouped(warm) + " that only warmed caches";
  std::string out = "beside the path: " + parts;
  if (longest != nullptr)
    out += "; the longest is row " + std::to_string(longest->row + 1) + ", request " +
           std::to_string(longest->id) + ", " + duration(seconds(longest->end - longest->sent));
  return out + "\n";
}

/// The request of the path with most time, tool delays apart: what to ask about next.
std::string longest_line(const WhyPlay& why) {
  const auto own = [](const WhyPlay::Row& row) { return row.where.sum() - row.where.tool; };
  const auto most = std::max_element(why.path.begin(), why.path.end(),
                                     [&](const auto& a, const auto& b) { return own(a) < own(b); });
  if (most == why.path.end() || own(*most) == 0) return "";
  const std::string id = std::to_string(most->step.id);
  return "longest on the path: request " + id + ", " + duration(seconds(own(*most))) + "; why " +
         id + " says what it waited for\n";
}

}  // namespace

std::string report(const WhyPlay& why) {
  if (why.path.empty()) return headline(why) + "none of its requests that count was sent\n";
  return headline(why) + path_table(why) + "\n" + heading_table(why) + "\n" + beside_line(why) +
         longest_line(why);
}

namespace {

void put_times(Json& out, const PlayTimes& times) {
  out["tool_s"] = seconds(times.tool);
  out["queue_s"] = seconds(times.queue);
  out["load_s"] = seconds(times.load);
  out["prefill_s"] = seconds(times.prefill);
  out["decode_s"] = seconds(times.decode);
}

/// By heading, those that have time.
Json where_json(const PathTime& where) {
  Json out = Json::object();
  if (where.tool > 0) out["tool_s"] = seconds(where.tool);
  for (std::size_t i = 0; i < where.time.size(); ++i)
    if (where.time[i] > 0) out[key(static_cast<LatencyHeading>(i))] = seconds(where.time[i]);
  return out;
}

Json path_json(const WhyPlay& why) {
  Json out = Json::array();
  for (std::size_t i = 0; i < why.path.size(); ++i) {
    const PlayStep& step = why.path[i].step;
    Json row = Json::object();
    row["row"] = step.row + 1;
    row["request"] = step.id;
    if (i > 0) {
      row["after"]["row"] = why.path[i - 1].step.row + 1;
      row["after"]["event"] = name(why.path[i - 1].step.event);
    }
    row["sent_s"] = seconds(step.sent);
    row["until_s"] = seconds(step.until);
    row["event"] = name(step.event);
    put_times(row, step.times);
    row["where_s"] = where_json(why.path[i].where);
    out.push_back(std::move(row));
  }
  return out;
}

Json play_json(const PlayEnded& play) {
  Json out = Json::object();
  out["play"] = play.play + 1;
  if (!play.name.empty()) out["name"] = play.name;
  out["start_s"] = seconds(play.start);
  out["end_s"] = seconds(play.end);
  out["play_s"] = seconds(play.end - play.start);
  out["cut"] = play.cut;
  out["completed"] = play.completed;
  out["failed"] = play.failed;
  out["cancelled"] = play.cancelled;
  out["left_out"] = play.left_out;
  return out;
}

}  // namespace

Json to_json(const std::vector<PlayEnded>& plays) {
  Json out = Json::array();
  for (const PlayEnded& each : plays) out.push_back(play_json(each));
  return out;
}

Json to_json(const WhyPlay& why) {
  Json out = play_json(why.play);
  put_times(out, why.times);
  out["where_s"] = where_json(why.where);
  out["path"] = path_json(why);
  out["beside"] = Json::array();
  for (const PlayRequest& each : why.beside) {
    Json row = Json::object();
    row["row"] = each.row + 1;
    row["request"] = each.id;
    row["outcome"] = name(each.outcome);
    row["sent_s"] = seconds(each.sent);
    row["end_s"] = seconds(each.end);
    if (each.warm) row["warm"] = true;
    out["beside"].push_back(std::move(row));
  }
  return out;
}

}  // namespace rooflua
