#pragma once
// What a profiler recorded of one process: kernels of its GPUs, and calls and annotations of its
// CPU threads. Names are kept once; of an event only what a comparison with prices needs.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "border_profiles.h"

namespace rooflua {

enum class ProfileKind : std::uint8_t {
  kernel,          // on a GPU
  copy,            // between memories, or a fill
  launch,          // a call of the driver or its runtime
  call,            // an operator of the framework
  annotation,      // a range that engine or user named, on a thread
  gpu_annotation,  // the same range on the GPU
  function         // of Python
};

/// Beyond these a file is refused.
struct ProfileLimits {
  std::size_t most_events = 10'000'000;
  std::size_t most_lanes = 65'536;                       // threads and streams
  std::size_t most_name_bytes = 65'536;                  // of one name
  std::size_t most_text_bytes = std::size_t{128} << 20;  // of all different names
  double most_ns = 4e18;                                 // the last time: 2^62 ns are 146 years
};

/// Texts by number, in the order in which they came.
class ProfileTexts {
 public:
  /// @throws std::length_error  where all texts together are longer than `most`
  std::int32_t number(std::string_view text, std::size_t most);
  const std::vector<std::string_view>& all() const { return all_; }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> numbers_;
  std::vector<std::string_view> all_;
  std::size_t bytes_ = 0;
};

/// One file. Times count from the first event, in nanoseconds.
struct Profile {
  std::string file, format;  // "torch", "nsys"
  std::string gpu;           // its name, "" where the file has none
  int rank = -1;             // of the process among many; -1: not said
  ProfileTexts names, shapes;
  std::vector<rooflua_profile_event> events;  // by start; at one start the longest first
  std::vector<std::string> notes;
};

/// What a reader collects before events have an order.
class ProfileBuilder {
 public:
  explicit ProfileBuilder(std::string file, ProfileLimits limits = {});

  struct Event {
    std::int64_t start_ns = 0, duration_ns = 0;
    std::string_view name;
    ProfileKind kind = ProfileKind::kernel;
    std::int64_t process = 0, lane = 0;  // thread or stream
    std::int64_t correlation = -1;       // of a launch and what it launched
    std::int64_t external = -1;          // of an operator and what it launched
    int device = 0;
    std::string_view shape;  // of the operands of an operator
    bool in_graph = false;
  };
  /// @param place  for errors
  /// @throws Error for negative times and what is beyond the limits
  void add(const Event& event, const std::string& place);

  Profile& profile() { return profile_; }
  /// Puts events in order, and gives each kernel its launch and its shape.
  Profile take();

 private:
  std::int32_t lane_of(std::int64_t process, std::int64_t lane, const std::string& place);

  ProfileLimits limits_;
  Profile profile_;
  std::int64_t first_ns_ = 0;
  std::unordered_map<std::uint64_t, std::int32_t> lanes_;
  std::unordered_map<std::int64_t, std::int32_t> shape_of_;  // by external
};

/// Reads a trace of the torch profiler (Chrome JSON, plain or packed) or an export of Nsight
/// Systems (SQLite), told apart by how the file begins.
/// @throws Error naming file and place
Profile read_profile(const std::string& path, ProfileLimits limits = {});

/// The same of one form each.
Profile read_torch_trace(const std::string& path, ProfileLimits limits = {});
Profile read_nsys_export(const std::string& path, ProfileLimits limits = {});

}  // namespace rooflua
