#include "script/serving/plays.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "script/serving/policy_call.h"
#include "script/serving/workload.h"
#include "script/vm/context.h"

namespace rooflua::script {

namespace {

using Names = std::vector<std::string>;

const Names play_fields{"arrival_s", "name", "rows"};
const Names row_fields{"prompt_tokens",
                       "output_tokens",
                       "content",
                       "output_content",
                       "prefix",
                       "class",
                       "session",
                       "tenant",
                       "program",
                       "adapter",
                       "deadline_s",
                       "priority",
                       "max_output_tokens",
                       "predicted_output_tokens",
                       "parents",
                       "not_before_s",
                       "cancel",
                       "warm",
                       "barrier"};
const Names trigger_fields{"row", "event", "delay_s"};
const Names prefix_fields{"row", "segments"};

/// A table of Lua at a place of the stack, and what messages call it.
class Reader {
 public:
  Reader(lua_State* L, int index, std::string where)
      : L_(L), index_(index), where_(std::move(where)) {
    if (!lua_istable(L, index)) fail("", "expected a table", index);
  }
  const std::string& where() const { return where_; }
  int index() const { return index_; }
  lua_State* state() const { return L_; }

  [[noreturn]] void fail(const char* field, const std::string& expected, int found) const {
    throw Error("", where_ + (*field == 0 ? "" : ": ") + field + ": " + expected + ", found " +
                        describe_value(L_, found));
  }

  /// @throws Error for a field that nothing reads
  void check(const Names& known) const {
    for (lua_pushnil(L_); lua_next(L_, index_) != 0; lua_pop(L_, 1)) {
      std::string name;
      if (lua_type(L_, -2) == LUA_TSTRING) name = lua_tostring(L_, -2);
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      if (name.empty()) name = describe_value(L_, lua_gettop(L_) - 1);
      throw Error("", where_ + ": " + unknown_name("field", name, known));
    }
  }

  /// Calls `use` with the place of the field, where the table has it.
  template <class Use>
  void field(const char* name, Use use) const {
    lua_getfield(L_, index_, name);
    if (!lua_isnil(L_, -1)) use(lua_gettop(L_));
    lua_pop(L_, 1);
  }

  double number(const char* name, double otherwise) const {
    double out = otherwise;
    field(name, [&](int at) {
      if (lua_type(L_, at) != LUA_TNUMBER) fail(name, "expected a number", at);
      out = lua_tonumber(L_, at);
    });
    return out;
  }

  std::int32_t whole_at(const char* name, std::int32_t least, int at) const {
    const double value = lua_tonumber(L_, at);
    const bool fits = lua_type(L_, at) == LUA_TNUMBER && value >= least &&
                      value <= std::numeric_limits<std::int32_t>::max() &&
                      std::floor(value) == value;
    if (!fits) fail(name, "expected a whole number >= " + std::to_string(least), at);
    return static_cast<std::int32_t>(value);
  }
  void whole(const char* name, std::int32_t least, std::int32_t& out) const {
    field(name, [&](int at) { out = whole_at(name, least, at); });
  }
  std::int32_t need(const char* name, std::int32_t least) const {
    std::int32_t out = 0;
    lua_getfield(L_, index_, name);
    out = whole_at(name, least, lua_gettop(L_));
    lua_pop(L_, 1);
    return out;
  }

  std::uint64_t content_at(const char* name, int at) const {
    const double value = lua_tonumber(L_, at);
    const bool fits = lua_type(L_, at) == LUA_TNUMBER && value >= 0 &&
                      value <= 9007199254740992.0 && std::floor(value) == value;
    if (!fits) fail(name, "expected a content id, a whole number from 0 to 2^53", at);
    return static_cast<std::uint64_t>(value);
  }

 private:
  lua_State* L_;
  int index_;
  std::string where_;
};

RowTrigger read_trigger(const Reader& from) {
  from.check(trigger_fields);
  RowTrigger out;
  out.row = from.need("row", 1) - 1;
  from.field("event", [&](int at) {
    lua_State* L = from.state();
    const std::string name = lua_type(L, at) == LUA_TSTRING ? lua_tostring(L, at) : "";
    const auto event = value_named(row_event_words, name);
    if (!event && name.empty()) from.fail("event", "expected the name of an event", at);
    if (!event)
      throw Error("", from.where() + ": " + unknown_name("event", name, names_of(row_event_words)));
    out.event = *event;
  });
  out.delay_s = from.number("delay_s", 0);
  return out;
}

void read_parents(const Reader& from, PlayRow& row) {
  from.field("parents", [&](int list) {
    lua_State* L = from.state();
    if (!lua_istable(L, list)) from.fail("parents", "expected a list", list);
    const int count = static_cast<int>(lua_objlen(L, list));
    for (int i = 1; i <= count; ++i) {
      lua_rawgeti(L, list, i);
      row.parents.push_back(read_trigger(
          Reader(L, lua_gettop(L), from.where() + ": parents[" + std::to_string(i) + "]")));
      lua_pop(L, 1);
    }
  });
}

/// Segments of an earlier row that this row's content goes on after. @returns that row, or -1
std::int32_t read_prefix(const Reader& from, const Play& play, std::vector<Segment>& segments) {
  std::int32_t row = -1;
  from.field("prefix", [&](int at) {
    const Reader prefix(from.state(), at, from.where() + ": prefix");
    prefix.check(prefix_fields);
    row = prefix.need("row", 1) - 1;
    if (row >= static_cast<std::int32_t>(play.rows.size()))
      throw Error("", prefix.where() + ": row: expected an earlier row of the play, found " +
                          std::to_string(row + 1));
    const std::span<const Segment> all = play.segments(play.rows[static_cast<std::size_t>(row)]);
    auto count = static_cast<std::int32_t>(all.size());
    prefix.whole("segments", 1, count);
    if (count > static_cast<std::int32_t>(all.size()))
      throw Error("", prefix.where() + ": segments: row " + std::to_string(row + 1) + " has " +
                          std::to_string(all.size()) + ", found " + std::to_string(count));
    segments.assign(all.begin(), all.begin() + count);
  });
  return row;
}

void read_content(const Reader& from, std::vector<Segment>& segments) {
  from.field("content", [&](int list) {
    lua_State* L = from.state();
    if (!lua_istable(L, list)) from.fail("content", "expected a list of {id, tokens}", list);
    const int count = static_cast<int>(lua_objlen(L, list));
    for (int i = 1; i <= count; ++i) {
      lua_rawgeti(L, list, i);
      if (!lua_istable(L, -1))
        from.fail("content", "expected a list of {id, tokens}", lua_gettop(L));
      lua_rawgeti(L, -1, 1);
      lua_rawgeti(L, -2, 2);
      const int top = lua_gettop(L);
      segments.push_back(
          {from.content_at("content", top - 1), from.whole_at("content tokens", 1, top)});
      lua_pop(L, 3);
    }
  });
}

void check_lengths(const Reader& from, const PlayRow& row, std::span<const Segment> segments) {
  std::int64_t sum = 0;
  for (const Segment& each : segments) sum += each.tokens;
  if (!segments.empty() && sum != row.spec.prompt_tokens)
    throw Error("", from.where() + ": content: the segments add up to " + std::to_string(sum) +
                        " tokens; prompt_tokens says " + std::to_string(row.spec.prompt_tokens));
}

void read_row(const Reader& from, Play& play, bool shares_content, std::vector<Segment>& segments) {
  from.check(row_fields);
  PlayRow row;
  row.spec.prompt_tokens = from.need("prompt_tokens", 1);
  row.spec.output_tokens = from.need("output_tokens", 1);
  from.whole("class", 0, row.spec.klass);
  from.whole("session", 0, row.spec.session);
  from.whole("tenant", 0, row.spec.tenant);
  from.whole("program", 0, row.spec.program);
  from.whole("adapter", 0, row.spec.adapter);
  row.spec.deadline_s = from.number("deadline_s", 0);
  from.whole("priority", std::numeric_limits<std::int32_t>::min(), row.spec.priority);
  from.whole("max_output_tokens", 0, row.spec.max_output_tokens);
  from.whole("predicted_output_tokens", -1, row.spec.predicted_output_tokens);
  from.whole("barrier", 0, row.barrier);
  row.not_before_s = from.number("not_before_s", 0);
  from.field("warm", [&](int at) { row.warm = lua_toboolean(from.state(), at) != 0; });
  from.field("cancel", [&](int at) {
    row.cancel = read_trigger(Reader(from.state(), at, from.where() + ": cancel"));
  });
  from.field("output_content",
             [&](int at) { row.spec.output_content = from.content_at("output_content", at); });
  read_parents(from, row);
  segments.clear();
  std::int32_t base = read_prefix(from, play, segments);
  read_content(from, segments);
  if (!shares_content && (!segments.empty() || row.spec.output_content != 0))
    throw Error("", from.where() +
                        ": has content, which nothing reads: the table that "
                        "requests(rng) returns does not say shares_content = true");
  check_lengths(from, row, segments);
  const auto before = static_cast<std::int32_t>(play.rows.size());
  if (base < 0 && !row.parents.empty()) base = row.parents.front().row;
  if (base < 0 || base >= before) base = before - 1;
  play.set_segments(row, segments, base);
  play.rows.push_back(std::move(row));
}

void read_play(const Reader& from, bool shares_content, bool arrives, Play& play) {
  from.check(play_fields);
  lua_State* L = from.state();
  from.field("name", [&](int at) {
    if (lua_type(L, at) != LUA_TSTRING) from.fail("name", "expected a text", at);
    play.name = lua_tostring(L, at);
  });
  from.field("arrival_s", [&](int at) {
    if (!arrives)
      from.fail("arrival_s", "expected none: with lanes a play starts when one is free", at);
  });
  if (arrives) {
    lua_getfield(L, from.index(), "arrival_s");
    if (lua_type(L, -1) != LUA_TNUMBER)
      from.fail("arrival_s", "expected seconds: the state names no lanes", lua_gettop(L));
    lua_pop(L, 1);
    play.arrival_s = from.number("arrival_s", 0);
  }
  lua_getfield(L, from.index(), "rows");
  const int rows = lua_gettop(L);
  if (!lua_istable(L, rows)) from.fail("rows", "expected a list", rows);
  const int count = static_cast<int>(lua_objlen(L, rows));
  play.rows.reserve(static_cast<std::size_t>(count));
  std::vector<Segment> segments;
  for (int i = 1; i <= count; ++i) {
    lua_rawgeti(L, rows, i);
    read_row(Reader(L, lua_gettop(L), from.where() + ": row " + std::to_string(i)), play,
             shares_content, segments);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  const RowListeners listeners(play, from.where());  // @throws Error
}

std::optional<double> optional_number(lua_State* L, int table, const char* name) {
  const Reader state(L, table, "requests(rng)");
  std::optional<double> out;
  state.field(name, [&](int at) {
    const double value = lua_tonumber(L, at);
    if (lua_type(L, at) != LUA_TNUMBER || !(value >= 0 && value <= latest_s))
      state.fail(name, "expected seconds >= 0", at);
    out = value;
  });
  return out;
}

PlaysOptions read_options(lua_State* L, int table) {
  const Reader state(L, table, "requests(rng)");
  PlaysOptions out;
  state.whole("lanes", 1, out.lanes);
  out.idle_cap_s = optional_number(L, table, "idle_cap_s");
  out.until_s = optional_number(L, table, "until_s");
  out.measured_s = optional_number(L, table, "measured_s");
  if (out.until_s && out.measured_s)
    throw Error("", "requests(rng): has until_s and measured_s; one of both is right");
  state.field("shares_content", [&](int at) { out.shares_content = lua_toboolean(L, at) != 0; });
  for (const char* name : {"next", "done", "more"}) {
    state.field(name, [&](int at) { state.fail(name, "expected none beside plays", at); });
  }
  return out;
}

}  // namespace

LuaPlaySource::LuaPlaySource(Asking& asking) : asking_(&asking) {
  lua_State* L = asking.L;
  lua_getfield(L, -1, "plays");
  if (!lua_isfunction(L, -1))
    throw Error("workload", "requests(rng) returned a table whose plays is no function but " +
                                describe_value(L, lua_gettop(L)));
  lua_pop(L, 1);
  plays_ = field_reference(L, "plays");
  const PlaysOptions options = read_options(L, lua_gettop(L));
  shares_content_ = options.shares_content;
  arrives_ = options.lanes == 0;
  state_ = LuaReference(L);
}

bool LuaPlaySource::next(Play& play) {
  const Ask ask(*asking_, "its workload (plays)");
  lua_State* L = asking_->L;
  const int top = lua_gettop(L);
  const std::string number = std::to_string(taken_ + 1);
  plays_.push(L);
  state_.push(L);
  if (lua_pcall(L, 1, 1, 0) != 0) rethrow(L, "workload, play " + number);
  if (lua_isnil(L, -1)) return lua_settop(L, top), false;
  ++taken_;
  try {
    read_play(Reader(L, top + 1, "play " + number), shares_content_, arrives_, play);
  } catch (const Error& wrong) {
    plays_.push(L);
    const std::string place = place_of_function(L, lua_gettop(L));
    lua_settop(L, top);
    throw Error(place, wrong.where().empty() ? wrong.message() : wrong.what());
  }
  lua_settop(L, top);
  return true;
}

std::unique_ptr<PlaySource> LuaPlaySource::fork() const {
  push_twin(asking_->L, state_);
  auto copy = std::make_unique<LuaPlaySource>(*asking_);
  copy->taken_ = taken_;
  return copy;
}

std::optional<Unsent> LuaPlaySource::left_out() const {
  return left_out_of(*asking_, state_);
}

std::vector<std::string> LuaPlaySource::notes() const {
  return notes_of(*asking_, state_);
}

std::vector<std::string> LuaPlays::notes() const {
  return static_cast<const LuaPlaySource&>(source()).notes();
}

std::unique_ptr<Workload> LuaPlays::fork() const {
  return std::unique_ptr<Workload>(new LuaPlays(*this, source().fork()));
}

void LuaPlays::belong_to(Asking& asking) {
  static_cast<LuaPlaySource&>(source()).belong_to(asking);
}

std::optional<Unsent> LuaPlays::left_out() const {
  std::optional<Unsent> said = static_cast<const LuaPlaySource&>(source()).left_out();
  const std::optional<Unsent> own = Plays::left_out();
  if (!said || !own) return said ? said : own;
  if (said->unit != own->unit) said->unit += " and " + own->unit;
  said->total += own->total;
  said->reasons.insert(said->reasons.end(), own->reasons.begin(), own->reasons.end());
  return said;
}

std::unique_ptr<Workload> lua_workload(Asking& asking, std::vector<std::string>& classes) {
  lua_State* L = asking.L;
  if (classes.empty()) classes = classes_of(asking, lua_gettop(L));
  if (!lua_istable(L, -1) || !has_field(L, "plays")) return std::make_unique<LuaWorkload>(asking);
  const PlaysOptions options = read_options(L, lua_gettop(L));
  return std::make_unique<LuaPlays>(std::make_unique<LuaPlaySource>(asking), options);
}

}  // namespace rooflua::script
