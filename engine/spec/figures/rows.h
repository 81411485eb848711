#pragma once
// Makes the rows of a table of figures (figure.h). The compiler refuses a member of another struct.

#include <array>
#include <concepts>
#include <functional>
#include <type_traits>

#include "base/vocabulary.h"
#include "spec/figures/figure.h"

namespace rooflua {

namespace detail {
template <class Member>
struct MemberOf;
template <class T, class V>
struct MemberOf<V T::*> {
  using Whole = T;
  using Value = V;
};
template <auto member>
using WholeOf = typename MemberOf<decltype(member)>::Whole;
template <auto member>
using ValueOf = typename MemberOf<decltype(member)>::Value;

template <class T>
struct IsList : std::false_type {};
template <class T>
struct IsList<std::vector<T>> : std::true_type {};

template <class V>
constexpr std::string_view type_name() {
  if constexpr (std::same_as<V, std::vector<std::string>>) return "string[]";
  if constexpr (requires { typename V::value_type; } && !std::same_as<V, std::string>)
    return type_name<typename V::value_type>();
  if constexpr (std::same_as<V, bool>) return "boolean";
  if constexpr (std::integral<V>) return "integer";
  if constexpr (std::floating_point<V> || std::same_as<V, Bytes>) return "number";
  return "string";
}

template <auto member>
FigurePlace place(void* whole) {
  return &(static_cast<WholeOf<member>*>(whole)->*member);
}

template <class Value, const auto& words>
struct WordAccess {
  static std::string_view get(const void* member) {
    return words[static_cast<std::size_t>(*static_cast<const Value*>(member))].name;
  }
  static bool set(void* member, std::string_view name) {
    const auto found = value_named(words, name);
    if (found) *static_cast<Value*>(member) = *found;
    return found.has_value();
  }
  static std::vector<std::string> names() { return names_of(words); }
};

template <class Value>
struct PartAccess {
  using Part = typename Value::value_type;
  static constexpr bool list = IsList<Value>::value;
  static std::size_t count(const void* member) {
    if constexpr (list)
      return static_cast<const Value*>(member)->size();
    else
      return static_cast<const Value*>(member)->has_value() ? 1 : 0;
  }
  static void* item(void* member, [[maybe_unused]] std::size_t i) {
    if constexpr (list)
      return &(*static_cast<Value*>(member))[i];
    else
      return &**static_cast<Value*>(member);
  }
  static void* add(void* member) {
    if constexpr (list)
      return &static_cast<Value*>(member)->emplace_back();
    else
      return &static_cast<Value*>(member)->emplace();
  }
  static std::string name([[maybe_unused]] const void* item) {
    if constexpr (list && requires(const Part& part) { part.name; })
      return static_cast<const Part*>(item)->name;
    return "";
  }
};
}  // namespace detail

/// A row, and the struct to which it belongs.
template <class T>
struct FigureOf {
  FigureRow row;

  /// The key of a file, where it is another one than the name.
  constexpr FigureOf written(std::string_view key) const {
    FigureOf out = *this;
    out.row.key = key;
    return out;
  }
  /// The figure belongs only to objects that pass `test`, a bool (*)(const T&). Several rows may
  /// have one name, with tests of which at most one is true.
  template <auto test>
  constexpr FigureOf only() const {
    FigureOf out = *this;
    out.row.applies = [](const void* whole) { return bool(test(*static_cast<const T*>(whole))); };
    return out;
  }
  /// A part whose keys stand among those of the whole. An open one is there if its first key is.
  constexpr FigureOf among() const {
    FigureOf out = *this;
    out.row.among = true;
    return out;
  }
  /// Read and checked only where the part has a table of its own.
  constexpr FigureOf apart() const {
    FigureOf out = *this;
    out.row.apart = true;
    return out;
  }
  /// Not in JSON where it is 0.
  constexpr FigureOf unless_zero() const {
    FigureOf out = *this;
    out.row.unless_zero = true;
    return out;
  }
  /// Not in JSON, and not for scripts.
  constexpr FigureOf hidden() const {
    FigureOf out = *this;
    out.row.shown = false;
    return out;
  }
};

/// A number.
template <auto member>
constexpr auto figure(std::string_view name, std::string_view unit, double least, double most,
                      Stated stated, std::string_view doc) {
  return FigureOf<detail::WholeOf<member>>{{.name = name,
                                            .key = name,
                                            .unit = unit,
                                            .least = least,
                                            .most = most,
                                            .stated = stated,
                                            .doc = doc,
                                            .type = detail::type_name<detail::ValueOf<member>>(),
                                            .at = detail::place<member>}};
}

/// A flag, a text or a number format.
template <auto member>
constexpr auto figure(std::string_view name, Stated stated, std::string_view doc) {
  return figure<member>(name, "", 0, 0, stated, doc);
}

/// A member whose values are named by `words`.
template <auto member, const auto& words>
constexpr auto word(std::string_view name, Stated stated, std::string_view doc) {
  using Access = detail::WordAccess<detail::ValueOf<member>, words>;
  auto out = FigureOf<detail::WholeOf<member>>{
      {.name = name, .key = name, .stated = stated, .doc = doc, .type = "string"}};
  out.row.at = [](void* whole) {
    auto& value = static_cast<detail::WholeOf<member>*>(whole)->*member;
    return FigurePlace(WordPlace{&value, Access::get, Access::set, Access::names});
  };
  return out;
}

/// A std::optional or std::vector of a struct that has figures itself.
template <auto member>
constexpr auto part(std::string_view name, Stated stated, std::string_view doc) {
  using Access = detail::PartAccess<detail::ValueOf<member>>;
  auto out = FigureOf<detail::WholeOf<member>>{
      {.name = name, .key = name, .stated = stated, .doc = doc, .list = Access::list}};
  out.row.part = figures<typename Access::Part>;
  out.row.at = [](void* whole) {
    auto& value = static_cast<detail::WholeOf<member>*>(whole)->*member;
    return FigurePlace(PartPlace{&value, Access::count, Access::item, Access::add, Access::name});
  };
  return out;
}

/// What `value` makes of an object: a Json (*)(const T&), or a member function without parameters.
template <class T, auto value>
constexpr FigureOf<T> computed(std::string_view name, std::string_view type, std::string_view doc) {
  FigureOf<T> out{{.name = name, .stated = Stated::computed, .doc = doc, .type = type}};
  out.row.at = [](void* whole) {
    return FigurePlace(std::in_place_type<Json>, std::invoke(value, *static_cast<const T*>(whole)));
  };
  return out;
}

/// The rows of a table. All of them belong to T.
template <class T, std::same_as<FigureOf<T>>... Rows>
constexpr std::array<FigureRow, sizeof...(Rows)> rows_of(Rows... rows) {
  return {rows.row...};
}

template <class T>
FigureTable table_of(std::string_view name, std::string_view doc, std::span<const FigureRow> rows) {
  static const T initial{};
  return {name, doc, rows, &initial};
}

}  // namespace rooflua
