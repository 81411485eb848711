// Traces of the torch profiler: Chrome's trace format with the categories and arguments of Kineto.
// @source pytorch/kineto libkineto/src/output_json.cpp; Trace Event Format (Chrome)

#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/json/stream.h"
#include "measure/profile/profile.h"

namespace rooflua {

namespace {

constexpr double ns_per_us = 1000;
constexpr std::int64_t least_function_ns = 20'000;  // of Python: shorter ones explain no gap
constexpr std::size_t most_shape_bytes = 400;

enum class Key {
  other,
  phase,
  category,
  name,
  process,
  thread,
  time,
  duration,
  arguments,  // of an event
  external,
  correlation,
  stream,
  device,
  shapes,
  collective,  // of its arguments
  events,
  distributed,
  devices,
  rank,
  device_name  // of the file
};

Key event_key(std::string_view name) {
  if (name == "ph") return Key::phase;
  if (name == "cat") return Key::category;
  if (name == "name") return Key::name;
  if (name == "pid") return Key::process;
  if (name == "tid") return Key::thread;
  if (name == "ts") return Key::time;
  if (name == "dur") return Key::duration;
  return name == "args" ? Key::arguments : Key::other;
}

Key argument_key(std::string_view name) {
  if (name == "External id" || name == "external id") return Key::external;
  if (name == "correlation") return Key::correlation;
  if (name == "stream") return Key::stream;
  if (name == "device") return Key::device;
  if (name == "Input Dims" || name == "Input dims") return Key::shapes;
  return Key::other;
}

Key file_key(std::string_view name) {
  if (name == "traceEvents") return Key::events;
  if (name == "distributedInfo") return Key::distributed;
  return name == "deviceProperties" ? Key::devices : Key::other;
}

/// Kinds by Kineto's categories; nothing for what no comparison needs (flows, counters, the GPU's
/// own synchronisations).
std::optional<ProfileKind> kind_of(std::string_view category) {
  if (category == "kernel" || category == "Kernel") return ProfileKind::kernel;
  if (category == "gpu_memcpy" || category == "gpu_memset" || category == "Memcpy" ||
      category == "Memset")
    return ProfileKind::copy;
  if (category == "cuda_runtime" || category == "cuda_driver" || category == "Runtime" ||
      category == "hip_runtime" || category == "xpu_runtime")
    return ProfileKind::launch;
  if (category == "cpu_op" || category == "Operator" || category == "cpu_instant_event")
    return ProfileKind::call;
  if (category == "user_annotation") return ProfileKind::annotation;
  if (category == "gpu_user_annotation") return ProfileKind::gpu_annotation;
  if (category == "python_function") return ProfileKind::function;
  return std::nullopt;
}

/// Nanoseconds of a number of microseconds as it stands in the file: times since 1970 with three
/// decimals have more digits than a double.
std::optional<std::int64_t> nanoseconds(std::string_view written, double value) {
  const std::size_t point = written.find('.');
  std::int64_t whole = 0;
  const std::string_view digits = written.substr(0, point);
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), whole);
  if (problem == std::errc() && end == digits.data() + digits.size() &&
      std::abs(whole) < 4'000'000'000'000'000) {
    std::int64_t part = 0, unit = 100;
    const std::string_view decimals =
        point == std::string_view::npos ? "" : written.substr(point + 1);
    bool plain = true;
    for (const char c : decimals) {
      if (c < '0' || c > '9') plain = false;
      if (plain) part += (c - '0') * unit, unit /= 10;
    }
    if (plain) return whole * 1000 + (written.starts_with('-') ? -part : part);
  }
  if (!(std::abs(value) < 4e15)) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(value * ns_per_us));
}

class TorchTrace : public JsonEvents {
 public:
  TorchTrace(const std::string& path, ProfileLimits limits)
      : stream_(path), builder_(path, limits), most_name_bytes_(limits.most_name_bytes) {}

  Profile read() {
    stream_.read(*this);
    if (!seen_events_)
      throw Error(builder_.profile().file, "is JSON without 'traceEvents': no trace of a profiler");
    Profile out = builder_.take();
    out.format = "torch";
    return out;
  }

  void open_object() override {
    if (in_shapes()) refuse("'Input Dims' holds an object");
    ++deep_;
    if (deep_ == event_deep_)
      event_ = {}, shape_.clear(), phase_ = false, has_time_ = has_duration_ = false,
      has_kind_ = false;
    if (deep_ == event_deep_ + 1 && key_ == Key::arguments && event_deep_ > 0) in_arguments_ = true;
    if (deep_ == 1) file_deep_ = 1;
  }
  void close_object() override {
    if (deep_ == event_deep_ && event_deep_ > 0) end_event();
    if (deep_ == event_deep_ + 1) in_arguments_ = false;
    if (deep_ == 2) of_file_ = Key::other;
    --deep_;
  }
  void open_array() override {
    ++deep_;
    if (deep_ == 1) return begin_events(2);
    if (deep_ == 2 && file_deep_ == 1 && key_ == Key::events) return begin_events(3);
    if (in_arguments_ && key_ == Key::shapes) begin_shape();
    if (shape_deep_ > 0) add_shape("[");
  }
  void close_array() override {
    if (shape_deep_ > 0) {
      if (!shape_.empty() && shape_.back() == ',') shape_.pop_back();
      add_shape("],");
      if (deep_ == shape_deep_) end_shape();
    }
    if (deep_ == event_deep_ - 1) event_deep_ = 0;
    if (deep_ == 2) of_file_ = Key::other;
    --deep_;
  }
  void key(std::string& name) override {
    key_ = Key::other;
    if (event_deep_ > 0) {
      if (deep_ == event_deep_)
        key_ = event_key(name);
      else if (in_arguments_ && deep_ == event_deep_ + 1)
        key_ = argument_key(name);
    } else if (deep_ == 1) {
      key_ = of_file_ = file_key(name);
    } else if (of_file_ == Key::distributed && name == "rank") {
      key_ = Key::rank;
    } else if (of_file_ == Key::devices && name == "name") {
      key_ = Key::device_name;
    }
  }
  void text(std::string& value) override {
    if (shape_deep_ > 0) return add_shape("\"\",");
    switch (take_key()) {
      case Key::phase:
        phase_ = value == "X";
        break;
      case Key::category:
        if (const auto kind = kind_of(value)) event_.kind = *kind, has_kind_ = true;
        break;
      case Key::name:
        if (value.size() > most_name_bytes_)
          refuse("a name of more than " + std::to_string(most_name_bytes_) + " bytes");
        name_.swap(value);
        break;
      case Key::process:
        event_.process = number_in(value);
        break;
      case Key::thread:
        event_.lane = number_in(value);
        break;
      case Key::device_name:
        if (builder_.profile().gpu.empty()) builder_.profile().gpu = value.substr(0, 200);
        break;
      case Key::time:
      case Key::duration:
        refuse("expected a number of microseconds, found a text");
      case Key::events:
        refuse("'traceEvents': expected a list, found a text");
      default:
        break;
    }
  }
  void number(double value, std::string_view written) override {
    if (shape_deep_ > 0) return add_shape(std::string(written) + ",");
    const Key key = take_key();
    if (key != Key::time && key != Key::duration)
      return take_whole(key, static_cast<std::int64_t>(std::abs(value) < 9e18 ? value : -1));
    const auto ns = nanoseconds(written, value);
    if (!ns) refuse("a time beyond 4e15 us");
    take_time(key, *ns);
  }
  void whole(std::int64_t value) override {
    if (shape_deep_ > 0) return add_shape(std::to_string(value) + ",");
    const Key key = take_key();
    if (key != Key::time && key != Key::duration) return take_whole(key, value);
    if (std::abs(value) > 4'000'000'000'000'000) refuse("a time beyond 4e15 us");
    take_time(key, value * 1000);
  }
  void word() override { take_key(); }

 private:
  [[noreturn]] void refuse(const std::string& what) const { throw Error(stream_.place(), what); }
  bool in_shapes() const { return shape_deep_ > 0; }
  Key take_key() {
    const Key key = key_;
    key_ = Key::other;
    return key;
  }
  void begin_events(int deep) {
    event_deep_ = deep;
    seen_events_ = true;
  }
  void begin_shape() {
    if (shape_deep_ > 0) return;
    shape_deep_ = deep_;
    shape_.clear();
  }
  void add_shape(std::string_view text) {
    if (shape_.size() <= most_shape_bytes) shape_ += text;
  }
  void end_shape() {
    shape_deep_ = 0;
    if (!shape_.empty()) shape_.pop_back();
    if (shape_.size() > most_shape_bytes) shape_.clear();
    key_ = Key::other;
  }
  void take_time(Key key, std::int64_t ns) {
    if (key == Key::time) event_.start_ns = ns, has_time_ = true;
    if (key == Key::duration) event_.duration_ns = ns, has_duration_ = true;
  }
  void take_whole(Key key, std::int64_t value) {
    switch (key) {
      case Key::process:
        event_.process = value;
        break;
      case Key::thread:
        event_.lane = value;
        break;
      case Key::external:
        event_.external = value;
        break;
      case Key::correlation:
        event_.correlation = value;
        break;
      case Key::stream:
        stream_of_ = value;
        break;
      case Key::device:
        if (value < -1 || value > 1023) refuse("'device': " + std::to_string(value));
        event_.device = static_cast<int>(value);
        break;
      case Key::rank:
        if (value < 0 || value > 1'000'000) refuse("'rank': " + std::to_string(value));
        builder_.profile().rank = static_cast<int>(value);
        break;
      case Key::name:
        refuse("'name': expected a text, found a number");
      case Key::category:
      case Key::phase:
        refuse("'cat' and 'ph': expected texts, found a number");
      default:
        break;
    }
  }
  /// Threads have names in some files: "stream 7", "Thread-3". One without a number gets one.
  std::int64_t number_in(const std::string& text) {
    std::int64_t out = 0;
    const std::size_t digits = text.find_first_of("0123456789");
    if (digits == std::string::npos)
      return -2 - threads_.number(text, ProfileLimits().most_text_bytes);
    std::from_chars(text.data() + digits, text.data() + text.size(), out);
    return out;
  }
  void end_event() {
    const std::int64_t stream = std::exchange(stream_of_, -1);
    if (!phase_ || !has_kind_) return;
    if (!has_time_ || !has_duration_) refuse("an event of phase X without 'ts' or 'dur'");
    if (event_.kind == ProfileKind::function && event_.duration_ns < least_function_ns &&
        event_.duration_ns >= 0)
      return;
    event_.name = name_;
    if (stream >= 0 && event_.kind <= ProfileKind::copy) event_.lane = stream;
    if (event_.kind == ProfileKind::call) event_.shape = shape_;
    const bool wrong = event_.start_ns < 0 || event_.duration_ns < 0;
    builder_.add(event_, wrong ? stream_.place() : builder_.profile().file);
  }

  JsonStream stream_;
  ProfileBuilder builder_;
  std::size_t most_name_bytes_;
  int deep_ = 0, event_deep_ = 0, shape_deep_ = 0, file_deep_ = 0;
  Key key_ = Key::other, of_file_ = Key::other;
  bool in_arguments_ = false, seen_events_ = false;
  ProfileBuilder::Event event_;
  bool phase_ = false, has_kind_ = false, has_time_ = false, has_duration_ = false;
  std::int64_t stream_of_ = -1;
  std::string name_, shape_;
  ProfileTexts threads_;  // that have names and no numbers
};

}  // namespace

Profile read_torch_trace(const std::string& path, ProfileLimits limits) {
  return TorchTrace(path, limits).read();
}

}  // namespace rooflua
