#include "serve/plays/live_play.h"

#include <algorithm>

namespace rooflua {

namespace {

/// Where the time of a row went from its sending until `until`.
PlayTimes times_of(const LiveRow& row, Picoseconds until) {
  const auto within = [&](Picoseconds time, Picoseconds from) {
    return time == never ? until : std::clamp(time, from, until);
  };
  PlayTimes out;
  const Picoseconds scheduled = within(row.scheduled, row.sent);
  const Picoseconds first = within(row.first_token, scheduled);
  out.load = std::min(row.load, scheduled - row.sent);
  out.queue = scheduled - row.sent - out.load;
  out.prefill = first - scheduled;
  out.decode = until - first;
  return out;
}

Picoseconds time_of(const LiveRow& row, RowEvent event) {
  if (event == RowEvent::sent) return row.sent;
  return event == RowEvent::first_token ? row.first_token : row.end;
}

void add(PlayTimes& sum, const PlayTimes& times) {
  sum.tool += times.tool;
  sum.queue += times.queue;
  sum.load += times.load;
  sum.prefill += times.prefill;
  sum.decode += times.decode;
}

}  // namespace

void LivePlay::count(PlayDone& out) const {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const LiveRow& row = rows[i];
    const PlayRow& said = play->rows[i];
    if (said.warm) continue;
    if (row.state == LiveRow::State::left_out) {
      ++out.left_out;
    } else if (row.outcome == Outcome::completed) {
      ++out.completed;
      out.prompt_tokens += said.spec.prompt_tokens;
      out.cached_tokens += row.cached_tokens;
      out.ideal_tokens += row.ideal_tokens;
    } else {
      ++(row.outcome == Outcome::cancelled && said.cancel.row >= 0 ? out.cancelled : out.failed);
    }
  }
}

void LivePlay::find_path(PlayDone& out, std::vector<PlayStep>& path) const {
  path.clear();
  std::int32_t last = -1;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].state != LiveRow::State::ended || play->rows[i].warm) continue;
    if (last < 0 || rows[i].end >= rows[static_cast<std::size_t>(last)].end)
      last = static_cast<std::int32_t>(i);
  }
  if (last < 0) {
    out.end = out.start;
    return;
  }
  Picoseconds until = rows[static_cast<std::size_t>(last)].end;
  const bool completed = rows[static_cast<std::size_t>(last)].outcome == Outcome::completed;
  RowEvent event = completed ? RowEvent::done : RowEvent::failed;
  while (last >= 0 && !said(last).warm) {
    const LiveRow& row = rows[static_cast<std::size_t>(last)];
    path.push_back({last, row.id, event, row.sent, until, times_of(row, until)});
    last = row.waited_for;
    event = row.waited_event;
    if (last >= 0) until = time_of(rows[static_cast<std::size_t>(last)], event);
  }
  std::reverse(path.begin(), path.end());
  Picoseconds from = out.start;
  for (PlayStep& step : path) {
    step.times.tool = step.sent - from;
    from = step.until;
    add(out.times, step.times);
  }
  out.end = std::max(out.start, from);
}

PlayDone LivePlay::describe(Picoseconds now, std::vector<PlayStep>& path) const {
  PlayDone out;
  out.play = number;
  out.name = &play->name;
  out.start = start;
  out.end = now;
  out.cut = cut;
  const auto is_warm = [](const PlayRow& row) { return row.warm; };
  if (std::any_of(play->rows.begin(), play->rows.end(), is_warm)) {
    Picoseconds first = never;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (!play->rows[i].warm) first = std::min(first, rows[i].sent);
    out.start = first == never ? now : first;
  }
  count(out);
  find_path(out, path);
  out.path = path;
  return out;
}

}  // namespace rooflua
