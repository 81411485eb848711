// What a profiler recorded, for Lua: natives that scripts/lib/rooflua/profile/capture.lua wraps.

#include "script/bind/profiles.h"

#include <cmath>
#include <memory>

#include "measure/profile/profile.h"

namespace rooflua::script {

template <>
struct TypeName<Profile> {
  static constexpr const char* value = "rooflua.Profile";
  static constexpr const char* article = "a profile";
};

namespace {

/// profile_open(path) -> profile
int profile_open(lua_State* L) {
  push_object<Profile>(L, std::make_shared<Profile>(read_profile(check_text(L, 1, "path"))));
  return 1;
}

/// profile_describe(profile) -> {file, format, gpu, rank, count, names, notes}
int profile_describe(lua_State* L) {
  const Profile& profile = *check_object<Profile>(L, 1, "profile");
  Json out = Json::object();
  out["file"] = profile.file;
  out["format"] = profile.format;
  out["gpu"] = profile.gpu;
  out["rank"] = profile.rank;
  out["count"] = static_cast<std::int64_t>(profile.events.size());
  out["names"] = static_cast<std::int64_t>(profile.names.all().size());
  out["notes"] = Json::array();
  for (const std::string& note : profile.notes) out["notes"].push_back(note);
  return push_json(L, out, false);
}

/// profile_events(profile) -> the address of its events (engine/border.h), which stay as long as it
/// does.
int profile_events(lua_State* L) {
  const Profile& profile = *check_object<Profile>(L, 1, "profile");
  lua_pushlightuserdata(L, const_cast<rooflua_profile_event*>(profile.events.data()));
  return 1;
}

int push_text_of(lua_State* L, const ProfileTexts& texts) {
  const double number = check_number(L, 2, "number");
  if (!(number >= 0 && number < static_cast<double>(texts.all().size()))) return 0;
  const std::string_view text = texts.all()[static_cast<std::size_t>(number)];
  lua_pushlstring(L, text.data(), text.size());
  return 1;
}

/// profile_name(profile, number), profile_shape(profile, number) -> text; nothing where there is
/// none
int profile_name(lua_State* L) {
  return push_text_of(L, check_object<Profile>(L, 1, "profile")->names);
}
int profile_shape(lua_State* L) {
  return push_text_of(L, check_object<Profile>(L, 1, "profile")->shapes);
}

}  // namespace

void bind_profiles(lua_State* L) {
  set_function(L, "profile_open", guarded<profile_open>);
  set_function(L, "profile_describe", guarded<profile_describe>);
  set_function(L, "profile_events", guarded<profile_events>);
  set_function(L, "profile_name", guarded<profile_name>);
  set_function(L, "profile_shape", guarded<profile_shape>);
}

}  // namespace rooflua::script
