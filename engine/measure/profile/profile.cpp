#include "measure/profile/profile.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>

#include "base/error.h"

namespace rooflua {

std::int32_t ProfileTexts::number(std::string_view text, std::size_t most) {
  if (const auto found = numbers_.find(text); found != numbers_.end()) return found->second;
  bytes_ += text.size() + sizeof(std::string);
  if (bytes_ > most) throw std::length_error("texts");
  const auto number = static_cast<std::int32_t>(all_.size());
  all_.push_back(numbers_.emplace(text, number).first->first);  // whose address stays
  return number;
}

ProfileBuilder::ProfileBuilder(std::string file, ProfileLimits limits) : limits_(limits) {
  profile_.file = std::move(file);
}

std::int32_t ProfileBuilder::lane_of(std::int64_t process, std::int64_t lane,
                                     const std::string& place) {
  const auto key = static_cast<std::uint64_t>(process) * 0x9E3779B97F4A7C15ULL +
                   static_cast<std::uint64_t>(lane);
  const auto [found, is_new] = lanes_.try_emplace(key, static_cast<std::int32_t>(lanes_.size()));
  if (is_new && lanes_.size() > limits_.most_lanes)
    throw Error(place, "has more than " + std::to_string(limits_.most_lanes) +
                           " threads and streams, which no profiler of one process records");
  return found->second;
}

void ProfileBuilder::add(const Event& event, const std::string& place) {
  if (event.duration_ns < 0) throw Error(place, "ends before it begins");
  if (event.start_ns < 0) throw Error(place, "begins before time 0");
  auto& events = profile_.events;
  if (events.size() >= limits_.most_events)
    throw Error(place, "has more than " + std::to_string(limits_.most_events) +
                           " events; record fewer steps, or without stacks");
  if (event.name.size() > limits_.most_name_bytes)
    throw Error(place, "a name of more than " + std::to_string(limits_.most_name_bytes) + " bytes");
  if (events.empty()) first_ns_ = event.start_ns;
  if (events.size() == events.capacity())  // by half, so that old and new fit beside each other
    events.reserve(std::max<std::size_t>(4096, events.size() + events.size() / 2));
  rooflua_profile_event own{};
  try {
    own.name = profile_.names.number(event.name, limits_.most_text_bytes);
    own.shape = -1;
    if (!event.shape.empty())
      own.shape = profile_.shapes.number(event.shape, limits_.most_text_bytes);
  } catch (const std::length_error&) {
    throw Error(place, "names have more than " + std::to_string(limits_.most_text_bytes >> 20) +
                           " MiB together; record without stacks");
  }
  own.start_ns = static_cast<double>(event.start_ns - first_ns_);
  own.duration_ns = static_cast<double>(event.duration_ns);
  own.kind = static_cast<std::int32_t>(event.kind);
  own.lane = lane_of(event.process, event.lane, place);
  own.device = event.device;
  own.in_graph = event.in_graph ? 1 : 0;
  own.correlation = static_cast<double>(event.correlation);
  own.link = -1;
  if (event.kind == ProfileKind::call) {
    if (event.external >= 0 && own.shape >= 0) shape_of_[event.external] = own.shape;
  } else if (event.kind == ProfileKind::kernel && event.external >= 0) {
    const auto shape = shape_of_.find(event.external);
    // The operator stands after its kernels in some files: then take() looks again.
    if (shape != shape_of_.end()) own.shape = shape->second;
  }
  events.push_back(own);
}

Profile ProfileBuilder::take() {
  auto& events = profile_.events;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& each : events) least = std::min(least, each.start_ns);
  for (auto& each : events) each.start_ns -= least;
  std::sort(events.begin(), events.end(), [](const auto& a, const auto& b) {
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    if (a.duration_ns != b.duration_ns) return a.duration_ns > b.duration_ns;
    return a.name < b.name;
  });
  std::unordered_map<std::int64_t, std::int32_t> launch_of;
  for (std::size_t i = 0; i < events.size(); ++i)
    if (events[i].kind == static_cast<std::int32_t>(ProfileKind::launch) &&
        events[i].correlation >= 0)
      launch_of[static_cast<std::int64_t>(events[i].correlation)] = static_cast<std::int32_t>(i);
  for (auto& each : events) {
    if (each.kind > static_cast<std::int32_t>(ProfileKind::copy) || each.correlation < 0) continue;
    const auto launch = launch_of.find(static_cast<std::int64_t>(each.correlation));
    if (launch == launch_of.end()) continue;
    each.link = launch->second;
    const auto name =
        profile_.names
            .all()[static_cast<std::size_t>(events[static_cast<std::size_t>(launch->second)].name)];
    if (name.find("GraphLaunch") != std::string_view::npos) each.in_graph = 1;
  }
  return std::move(profile_);
}

Profile read_profile(const std::string& path, ProfileLimits limits) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw Error(path, "is a folder; name the files of a profiler");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(path, "cannot be read");
  char head[16] = {};
  in.read(head, sizeof head);
  if (in.gcount() == 0) throw Error(path, "is empty");
  constexpr std::string_view sqlite = "SQLite format 3";
  if (std::string_view(head, sqlite.size()) == sqlite) return read_nsys_export(path, limits);
  if (path.ends_with(".nsys-rep") || path.ends_with(".qdrep"))
    throw Error(path,
                "is a report of Nsight Systems; export it: nsys export --type sqlite " + path);
  return read_torch_trace(path, limits);
}

}  // namespace rooflua
