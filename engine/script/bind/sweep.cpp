// Many runs from Lua: worker processes, results files, and the names of their content.

#include "measure/sweep.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/build_stamp.h"
#include "base/checksum.h"
#include "base/error.h"
#include "base/json_text.h"
#include "measure/store/shards.h"
#include "script/vm/context.h"
#include "script/vm/interrupt.h"

namespace rooflua::script {

namespace {

namespace fs = std::filesystem;

void add_file(Checksum& hash, const fs::path& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  std::string text(in ? static_cast<std::size_t>(in.tellg()) : 0, '\0');
  in.seekg(0);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  hash.add(text);
}

/// Adds a file, or all files of a folder with their paths relative to it.
void add_path(Checksum& hash, const fs::path& path) {
  if (!fs::is_directory(path)) return add_file(hash, path);
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    hash.add(file.lexically_relative(path).string());
    add_file(hash, file);
  }
}

/// Whether a file or folder is there that can be read to its end. A path that the system refuses,
/// such as one that is too long, names nothing.
bool is_there(const fs::path& path) {
  std::error_code refused;
  const fs::file_status status = fs::status(path, refused);
  return fs::is_regular_file(status) || fs::is_directory(status);
}

/// content_name({path...}, {text...}) -> 32 hexadecimal digits. A path that does not exist counts
/// as "absent".
int content_name(lua_State* L) {
  Checksum hash;
  const Json paths = to_json(L, 1, "paths"), texts = to_json(L, 2, "texts");
  for (const Json& each : paths.items()) {
    const bool there = is_there(each.text());
    hash.add(there ? "file" : "absent");
    if (there) add_path(hash, each.text());
  }
  for (const Json& each : texts.items()) hash.add(each.text());
  lua_pushstring(L, hash.name().c_str());
  return 1;
}

/// Calls the Lua function at `index` with the number of the row, counted from 1.
/// @return {document, report}. @throws Error with the message that the function raised
Json call_row(lua_State* L, int index, std::size_t row) {
  lua_settop(L, index);  // removes values that a failed row left on the stack
  lua_pushvalue(L, index);
  lua_pushnumber(L, static_cast<double>(row + 1));
  if (lua_pcall(L, 1, 1, 0) != 0) {
    const char* message = lua_tostring(L, -1);
    const std::string problem = message == nullptr ? "the run failed" : message;
    lua_pop(L, 1);
    throw Error("", problem);
  }
  Json result = Json::object();
  result["document"] = to_json(L, -1, "result");
  result["report"] = "";
  lua_pop(L, 1);
  return result;
}

/// dealt(total, count) -> {shard of each position, from 0} (measure/store/shards.h).
int dealt_positions(lua_State* L) {
  Json out = Json::array();
  for (const std::int64_t shard : dealt(static_cast<std::int64_t>(check_number(L, 1, "dealt")),
                                        static_cast<std::int64_t>(check_number(L, 2, "dealt"))))
    out.push_back(shard);
  return push_json(L, out, false);
}

/// Whether this process does the run of a row.
bool is_here(const Json& row) {
  const Json* here = row.find("here");
  return here == nullptr || here->boolean();
}

/// run_many({{name, parameters, seed, run_hash, position, here}...},
///   {jobs, title, results, also = {file...}, set = {hash, title, total, file}, round, partial,
///    told},
///   function(i))
///   -> {document or false...}, {problem...}, {reused, missing, foreign, interrupted}
/// With `partial` Ctrl-C ends only this call, and the caller goes on. With `told` an earlier call
/// has reported files whose runs are all of other builds.
int run_many(lua_State* L) {
  lua_settop(L, 3);
  const Json given = to_json(L, 1, "rows"), options = to_json(L, 2, "options");
  std::vector<SweepRow> rows;
  for (const Json& each : given.items()) {
    rows.push_back({text_of(each, "name"), *each.find("parameters"), each.find("seed")->integer(),
                    text_of(each, "run_hash"), whole_of(each, "position"), is_here(each)});
  }
  SweepOptions sweep;
  sweep.jobs = static_cast<int>(options.find("jobs")->integer());
  sweep.results = text_of(options, "results");
  sweep.build = build_stamp();
  if (const Json* set = options.find("set"))
    sweep.set = {text_of(*set, "hash"), text_of(*set, "title"), whole_of(*set, "total"),
                 text_of(*set, "file")};
  if (const Json* also = options.find("also"); also != nullptr && also->is_array()) {
    for (const Json& each : also->items()) sweep.also.push_back(each.text());
  }
  sweep.takes_failures = is_true(options, "round");
  sweep.tells_builds = !is_true(options, "told");
  sweep.title = text_of(options, "title");
  sweep.quiet = sweep.title.empty();
  sweep.stop = &stop_requested();
  sweep.in_process = continue_in_worker;
  sweep.before_each = restart_time_limit;
  sweep.leave = [] { return last_stop() != StopReason::none; };
  const SweepOutcome outcome =
      run_sweep(rows, sweep, [L](std::size_t row) { return call_row(L, 3, row); });
  Json documents = Json::array(), problems = texts_json(outcome.problems), about = Json::object();
  for (const Json& each : outcome.results)
    documents.push_back(each.is_null() ? Json(false) : *each.find("document"));
  about["reused"] = outcome.reused;
  about["missing"] = outcome.missing;
  about["foreign"] = outcome.foreign;
  about["interrupted"] = outcome.interrupted;
  if (outcome.interrupted && is_true(options, "partial"))
    absorb_stop();  // the caller goes on with what is known
  for (const Json& each : {documents, problems, about}) push_json(L, each, true);
  return 3;
}

}  // namespace

void bind_sweep(lua_State* L) {
  set_function(L, "content_name", guarded<content_name>);
  set_function(L, "dealt", guarded<dealt_positions>);
  set_function(L, "run_many", guarded<run_many>);
}

}  // namespace rooflua::script
