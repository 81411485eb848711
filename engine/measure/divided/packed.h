#pragma once
// Values as bytes, between processes of one program: the layout is that of the memory. A type that
// is more than its bytes has a function `template <class Archive> void pass(Archive& archive)` that
// calls archive(its members...): in both directions.

#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"

namespace rooflua {

class Packer {
 public:
  template <class... Values>
  void operator()(Values&... values) {
    (add(values), ...);
  }
  std::string bytes;

 private:
  template <class Value>
  void add(Value& value) {
    if constexpr (std::is_trivially_copyable_v<Value>) {
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else {
      value.pass(*this);
    }
  }
  template <class Value>
  void add(std::vector<Value>& values) {
    std::size_t count = values.size();
    add(count);
    if constexpr (std::is_trivially_copyable_v<Value>) {
      bytes.append(reinterpret_cast<const char*>(values.data()), count * sizeof(Value));
    } else {
      for (Value& each : values) add(each);
    }
  }
  template <class Key, class Value>
  void add(std::map<Key, Value>& values) {
    std::size_t count = values.size();
    add(count);
    for (auto& [key, value] : values) {
      Key copy = key;
      add(copy);
      add(value);
    }
  }
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}
  /// @throws Error if there are fewer bytes
  template <class... Values>
  void operator()(Values&... values) {
    (take(values), ...);
  }
  bool is_at_end() const { return rest_.empty(); }

 private:
  void copy(void* to, std::size_t size) {
    if (size > rest_.size()) throw Error("", "a worker process sent less than it said");
    if (size > 0) std::memcpy(to, rest_.data(), size);
    rest_.remove_prefix(size);
  }
  template <class Value>
  void take(Value& value) {
    if constexpr (std::is_trivially_copyable_v<Value>) {
      copy(&value, sizeof value);
    } else {
      value.pass(*this);
    }
  }
  template <class Value>
  void take(std::vector<Value>& values) {
    std::size_t count = 0;
    take(count);
    if (count > rest_.size()) throw Error("", "a worker process sent less than it said");
    values.resize(count);
    if constexpr (std::is_trivially_copyable_v<Value>) {
      copy(values.data(), count * sizeof(Value));
    } else {
      for (Value& each : values) take(each);
    }
  }
  template <class Key, class Value>
  void take(std::map<Key, Value>& values) {
    std::size_t count = 0;
    take(count);
    for (std::size_t i = 0; i < count; ++i) {
      Key key{};
      take(key);
      take(values[key]);
    }
  }

  std::string_view rest_;
};

}  // namespace rooflua
