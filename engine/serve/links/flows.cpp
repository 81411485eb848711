#include "serve/links/flows.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "base/error.h"

namespace rooflua {

namespace {
constexpr const char* time_of_transfer = "links (alpha_s + bytes / bytes_per_s)";
}

Flows::Flows(const Wires& wires)
    : wires_(wires.all()), carried_(wires_.size()), max_min_(wires_.size()) {
  for (const Wires::Wire& wire : wires_) capacity_.push_back(wire.bytes_per_s);
}

std::int32_t Flows::open_slot() {
  if (free_.empty()) {
    flows_.emplace_back();
    return static_cast<std::int32_t>(flows_.size()) - 1;
  }
  const std::int32_t slot = free_.back();
  free_.pop_back();
  at(slot) = {};
  return slot;
}

void Flows::start(FlowRequest what, Picoseconds now) {
  const std::int32_t slot = open_slot();
  Flow& flow = at(slot);
  flow.what = std::move(what);
  flow.serial = started_++;
  flow.start = now;
  flow.alone_rate = flow.what.bytes_per_s;
  for (const std::int32_t wire : flow.what.path)
    flow.alone_rate = std::min(flow.alone_rate, wires_[static_cast<std::size_t>(wire)].bytes_per_s);
  flow.alone_end =
      after(now, flow.what.alpha_s + flow.what.bytes / flow.alone_rate, time_of_transfer);
  if (flow.what.bytes <= 0)
    flow.due = flow.alone_end;
  else
    flow.due = flow.what.alpha_s > 0 ? after(now, flow.what.alpha_s, time_of_transfer) : now;
  add_due(slot);
}

double Flows::share_of(const std::vector<std::int32_t>& path) const {
  double share = std::numeric_limits<double>::infinity();
  for (const std::int32_t wire : path) {
    const auto w = static_cast<std::size_t>(wire);
    const double flows = static_cast<double>(carried_[w].flows.size()) + 1;
    share = std::min(share, capacity_[w] / flows);
  }
  return share;
}

/// -1: there is none under way.
template <class Picks>
std::int32_t Flows::find_where(Picks picks) const {
  for (const std::vector<std::int32_t>* list : {&due_, &queued_}) {
    const auto found = std::find_if(list->begin(), list->end(),
                                    [&](std::int32_t flow) { return picks(at(flow).what); });
    if (found != list->end()) return *found;
  }
  return -1;
}

std::int32_t Flows::find_flow(Errand errand, std::int32_t ticket) const {
  return find_where(
      [&](const FlowRequest& what) { return what.errand == errand && what.ticket == ticket; });
}

void Flows::stop_hand_over(std::int32_t slot, Picoseconds now) {
  const auto is_of_slot = [slot](const FlowRequest& what) {
    return what.errand == Errand::hand_over && what.slot == slot;
  };
  for (std::int32_t flow = find_where(is_of_slot); flow >= 0; flow = find_where(is_of_slot))
    stop_flow(flow, now);
}

Picoseconds Flows::expected_end(Errand errand, std::int32_t ticket) const {
  const std::int32_t flow = find_flow(errand, ticket);
  if (flow < 0) return 0;
  return at(flow).state == State::moves ? at(flow).due : at(flow).alone_end;
}

double Flows::stop(Errand errand, std::int32_t ticket, Picoseconds now) {
  const std::int32_t index = find_flow(errand, ticket);
  return index < 0 ? 0 : stop_flow(index, now);
}

double Flows::stop_flow(std::int32_t index, Picoseconds now) {
  const Flow& flow = at(index);
  double through = 0;
  if (flow.state == State::moves) {
    const double left = flow.bytes_left - flow.rate * seconds(now - flow.since);
    through = std::clamp(flow.what.bytes - left, 0.0, flow.what.bytes);
  }
  if (std::erase(queued_, index) == 0) drop_due(index);
  std::vector<FlowEnded> cut;
  end(index, cut);
  if (!queued_.empty()) let_queued_move(now);
  share(now);
  return through;
}

// --- one instant

void Flows::pass(Picoseconds now, std::vector<FlowEnded>& ended) {
  while (next() <= now) {
    while (next() <= now) {
      const std::int32_t first = due_.front();
      drop_due(first);
      const Flow& flow = at(first);
      if (flow.state == State::moves && stands(flow)) {
        fail(first, ended);
      } else if (flow.state == State::moves || flow.what.bytes <= 0) {
        end(first, ended);
      } else if (may_move(flow, {})) {
        move(first, now);
      } else {
        queued_.insert(std::upper_bound(queued_.begin(), queued_.end(), first,
                                        [&](std::int32_t a, std::int32_t b) {
                                          return at(a).serial < at(b).serial;
                                        }),
                       first);
      }
    }
    if (!queued_.empty()) let_queued_move(now);
    share(now);
  }
}

bool Flows::is_full(std::int32_t wire) const {
  const auto w = static_cast<std::size_t>(wire);
  return wires_[w].streams > 0 &&
         static_cast<std::int32_t>(carried_[w].flows.size()) >= wires_[w].streams;
}

/// @param wanted  wires that a flow which came earlier waits for
bool Flows::may_move(const Flow& flow, const std::vector<std::int32_t>& wanted) const {
  return std::none_of(flow.what.path.begin(), flow.what.path.end(), [&](std::int32_t wire) {
    return is_full(wire) || std::find(wanted.begin(), wanted.end(), wire) != wanted.end();
  });
}

void Flows::move(std::int32_t index, Picoseconds now) {
  Flow& flow = at(index);
  flow.state = State::moves;
  flow.bytes_left = flow.what.bytes;
  flow.since = now;
  flow.due = never;  // until it has a rate
  flow.rate = -1;
  if (flow.what.path.empty()) set_rate(flow, flow.alone_rate, now);
  add_due(index);
  for (const std::int32_t wire : flow.what.path) {
    carried(wire).flows.push_back(index);
    disturbed_.push_back(wire);
  }
}

void Flows::end(std::int32_t index, std::vector<FlowEnded>& ended) {
  Flow& flow = at(index);
  if (flow.state == State::moves) {
    for (const std::int32_t wire : flow.what.path) {
      std::erase(carried(wire).flows, index);
      disturbed_.push_back(wire);
    }
  }
  ended.push_back({std::move(flow.what), flow.start, flow.due, flow.alone_end});
  free_.push_back(index);
}

/// It stood still for too long.
void Flows::fail(std::int32_t index, std::vector<FlowEnded>& ended) {
  const double through = at(index).what.bytes - at(index).bytes_left;
  end(index, ended);
  ended.back().failed = true;
  ended.back().through = through;
}

void Flows::set_factor(std::span<const std::int32_t> wires, double factor, Picoseconds now) {
  for (const std::int32_t wire : wires) {
    const auto w = static_cast<std::size_t>(wire);
    capacity_[w] = wires_[w].bytes_per_s * factor;
    disturbed_.push_back(wire);
  }
  share(now);
}

/// First come, first served, on every wire.
void Flows::let_queued_move(Picoseconds now) {
  std::vector<std::int32_t> wanted, left;
  for (const std::int32_t index : queued_) {
    if (may_move(at(index), wanted)) {
      move(index, now);
      continue;
    }
    Flow& flow = at(index);
    flow.is_late = true;
    for (const std::int32_t wire : flow.what.path) {
      if (wires_[static_cast<std::size_t>(wire)].streams > 0) wanted.push_back(wire);
    }
    left.push_back(index);
  }
  queued_.swap(left);
}

/// The flows that share a wire with those that began or ended, and so on, by serial.
void Flows::find_component() {
  ++searches_;
  component_.clear();
  for (std::size_t i = 0; i < disturbed_.size(); ++i) {
    Carried& wire = carried(disturbed_[i]);
    if (std::exchange(wire.seen, searches_) == searches_) continue;
    for (const std::int32_t index : wire.flows) {
      if (std::exchange(at(index).seen, searches_) == searches_) continue;
      component_.push_back(index);
      disturbed_.insert(disturbed_.end(), at(index).what.path.begin(), at(index).what.path.end());
    }
  }
  disturbed_.clear();
  std::sort(component_.begin(), component_.end(),
            [&](std::int32_t a, std::int32_t b) { return at(a).serial < at(b).serial; });
}

/// New rates where flows began or ended.
void Flows::share(Picoseconds now) {
  if (disturbed_.empty()) return;
  find_component();
  shares_.clear();
  for (const std::int32_t index : component_)
    shares_.push_back({.path = at(index).what.path, .most = at(index).what.bytes_per_s});
  max_min_.find(shares_, capacity_);
  changed_.clear();
  for (std::size_t i = 0; i < component_.size(); ++i) {
    if (at(component_[i]).rate != shares_[i].rate) changed_.push_back(static_cast<std::int32_t>(i));
  }
  // One flow at a time finds its place among those that are due; where many change, all at once.
  const bool many = changed_.size() * 8 > due_.size();
  for (const std::int32_t i : changed_) {
    const std::int32_t index = component_[static_cast<std::size_t>(i)];
    set_rate(at(index), shares_[static_cast<std::size_t>(i)].rate, now);
    if (!many) find_place(index);
  }
  if (!many) return;
  for (std::size_t place = due_.size() / 2; place-- > 0;) sink(place);
}

void Flows::set_rate(Flow& flow, double rate, Picoseconds now) {
  const bool moved = flow.rate > 0;
  if (moved) flow.bytes_left -= flow.rate * seconds(now - flow.since);
  flow.rate = rate;
  flow.since = now;
  if (flow.bytes_left > 0 && rate == 0) {
    flow.is_late = true;
    const bool fails = timeout_s_ < std::numeric_limits<double>::infinity();
    flow.due = fails && flow.what.errand != Errand::start ? after(now, timeout_s_, time_of_transfer)
                                                          : never;
  } else if (!moved && !flow.is_late && rate == flow.alone_rate) {
    flow.due = std::max(now, flow.alone_end);
  } else if (flow.bytes_left <= 0) {
    flow.due = now;
  } else {
    const double ps = std::ceil(flow.bytes_left / rate * 1e12);
    flow.due = ps < 9e18 - static_cast<double>(now)
                   ? now + static_cast<Picoseconds>(ps)
                   : after(now, flow.bytes_left / rate, time_of_transfer);
  }
}

// --- what is due

bool Flows::is_before(std::int32_t a, std::int32_t b) const {
  return at(a).due != at(b).due ? at(a).due < at(b).due : at(a).serial < at(b).serial;
}

void Flows::put(std::size_t place, std::int32_t flow) {
  due_[place] = flow;
  at(flow).place = static_cast<std::int32_t>(place);
}

void Flows::rise(std::size_t place) {
  const std::int32_t flow = due_[place];
  while (place > 0 && is_before(flow, due_[(place - 1) / 2])) {
    put(place, due_[(place - 1) / 2]);
    place = (place - 1) / 2;
  }
  put(place, flow);
}

void Flows::sink(std::size_t place) {
  const std::int32_t flow = due_[place];
  while (2 * place + 1 < due_.size()) {
    std::size_t next = 2 * place + 1;
    if (next + 1 < due_.size() && is_before(due_[next + 1], due_[next])) ++next;
    if (!is_before(due_[next], flow)) break;
    put(place, due_[next]);
    place = next;
  }
  put(place, flow);
}

void Flows::add_due(std::int32_t flow) {
  due_.push_back(flow);
  rise(due_.size() - 1);
}

void Flows::drop_due(std::int32_t flow) {
  const auto place = static_cast<std::size_t>(at(flow).place);
  const std::int32_t last = due_.back();
  due_.pop_back();
  at(flow).place = -1;
  if (last == flow) return;
  put(place, last);
  find_place(last);
}

/// Its time has changed, and no other's.
void Flows::find_place(std::int32_t flow) {
  rise(static_cast<std::size_t>(at(flow).place));
  sink(static_cast<std::size_t>(at(flow).place));
}

}  // namespace rooflua
