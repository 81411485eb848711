#include "base/json/builder.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/numbers/number_words.h"

namespace rooflua {

namespace {

constexpr std::int32_t most_packed = std::numeric_limits<std::int32_t>::max();

}  // namespace

void JsonBuilder::add(Json value) {
  if (packing_) refuse_packed();
  if (open_.empty()) {
    root_ = std::move(value);
    return;
  }
  if (!key_waits_) values_.emplace_back();  // of an array
  values_.back().value = std::move(value);
  key_waits_ = false;
}

void JsonBuilder::whole(std::int64_t value) {
  if (!packing_) return add(value);
  if (value < 0 || value > most_packed) refuse_packed();
  lists_.add(static_cast<std::int32_t>(value));
}

void JsonBuilder::whole(std::uint64_t value) {
  if (value <= static_cast<std::uint64_t>(INT64_MAX))
    return whole(static_cast<std::int64_t>(value));
  add(static_cast<double>(value));
}

void JsonBuilder::number(double value) {
  if (!packing_) return add(value);
  if (!(value >= 0 && value <= most_packed) || std::floor(value) != value) refuse_packed();
  lists_.add(static_cast<std::int32_t>(value));
}

void JsonBuilder::text(std::string value) {
  if (const auto number = reading_.marks ? marked_number(value) : std::nullopt) return add(*number);
  add(std::move(value));
}

void JsonBuilder::key(std::string name) {
  values_.emplace_back();
  values_.back().key = std::move(name);
  key_waits_ = true;
}

void JsonBuilder::open_array() {
  if (packing_) refuse_packed();
  if (reading_.packed_key.empty() || !key_waits_ || values_.back().key != reading_.packed_key)
    return open();
  packing_ = true;
  lists_.open();
}

void JsonBuilder::close_array() {
  if (packing_) {
    packing_ = false;
    add(Json(lists_.close()));
    return;
  }
  Json::Array items;
  items.reserve(values_.size() - open_.back());
  for (std::size_t i = open_.back(); i < values_.size(); ++i)
    items.push_back(std::move(values_[i].value));
  close(Json(std::move(items)));
}

void JsonBuilder::close_object() {
  check_keys();
  const auto first = values_.begin() + static_cast<std::ptrdiff_t>(open_.back());
  close(Json::Object(std::make_move_iterator(first), std::make_move_iterator(values_.end())));
}

void JsonBuilder::refuse_packed() const {
  throw Error(reading_.name,
              std::string(reading_.packed_key) + ": expected whole numbers from 0 to 2147483647");
}

void JsonBuilder::open() {
  if (packing_) refuse_packed();
  if (open_.size() >= static_cast<std::size_t>(reading_.most_deep)) {
    throw Error(reading_.name, "nested more than " + std::to_string(reading_.most_deep) + " deep");
  }
  if (!open_.empty() && !key_waits_) values_.emplace_back();
  key_waits_ = false;
  open_.push_back(values_.size());
}

/// Takes the container with the values after `first` as the value that waits for it.
void JsonBuilder::close(Json container) {
  values_.resize(open_.back());
  open_.pop_back();
  (open_.empty() ? root_ : values_.back().value) = std::move(container);
}

void JsonBuilder::check_keys() {
  names_.clear();
  for (std::size_t i = open_.back(); i < values_.size(); ++i) names_.push_back(values_[i].key);
  std::sort(names_.begin(), names_.end());
  const auto twice = std::adjacent_find(names_.begin(), names_.end());
  if (twice != names_.end())
    throw Error(reading_.name, "the key '" + std::string(*twice) + "' occurs twice in one object");
}

}  // namespace rooflua
