// Random streams for scripts: functions that Lua calls through FFI, over state that Lua owns.

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/random/ahead.h"
#include "script/vm/context.h"

namespace rooflua::script {

namespace {

/// A draw, or NaN if a parameter is outside its range: the Lua side raises the error for NaN,
/// because no exception may cross an FFI frame.
template <class Draw>
double drawn(Draw draw) noexcept {
  try {
    return draw();
  } catch (const std::exception&) {
    return std::numeric_limits<double>::quiet_NaN();
  }
}

constexpr double largest_integer = 9007199254740992.0;

const rooflua_random_table random_table{
    sizeof(rooflua_random_table),
    [](Draws* d, double distribution, double a, double b) noexcept {
      return drawn(
          [=] { return next_value(*d, Distribution(static_cast<int>(distribution)), a, b); });
    },
    [](Draws* d, double a, double b) noexcept {
      return drawn([=] { return gamma(stream_of(*d), a, b); });
    },
    [](Draws* d, double a, double b) noexcept {
      if (!(std::abs(a) <= largest_integer && std::abs(b) <= largest_integer)) {
        return std::numeric_limits<double>::quiet_NaN();
      }
      return drawn([=] {
        return static_cast<double>(uniform_integer(stream_of(*d), static_cast<std::int64_t>(a),
                                                   static_cast<std::int64_t>(b)));
      });
    },
    [](Draws* d, double a) noexcept {
      return drawn([=] { return static_cast<double>(poisson(stream_of(*d), a)); });
    },
    [](const Draws* d, double i) noexcept {
      return uniform_at(d->stream.key, static_cast<std::uint64_t>(i));
    },
};

int functions(lua_State* L) {
  lua_pushlightuserdata(L, const_cast<rooflua_random_table*>(&random_table));
  return 1;
}

/// random_open(memory, seed, name, index): writes the initial state of a stream into memory that
/// Lua owns.
int open(lua_State* L) {
  auto* draws = static_cast<Draws*>(const_cast<void*>(lua_topointer(L, 1)));
  const double seed = check_number(L, 2, "seed");
  const std::string name = check_text(L, 3, "stream name");
  const double index = check_number(L, 4, "stream index");
  if (!(seed >= 0 && seed <= largest_integer && index >= 0 && index <= largest_integer)) {
    throw Error("", "a seed and a stream index are whole numbers from 0 to 2^53");
  }
  draws->stream =
      random_stream(static_cast<std::uint64_t>(seed), name, static_cast<std::uint64_t>(index));
  return 0;
}

}  // namespace

void bind_random(lua_State* L) {
  set_function(L, "random_table", guarded<functions>);
  set_function(L, "random_open", guarded<open>);
}

}  // namespace rooflua::script
