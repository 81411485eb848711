#include "app/written.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>

#include "app/commands.h"
#include "app/output.h"
#include "base/build_stamp.h"
#include "base/checksum.h"
#include "base/error.h"

namespace rooflua::app {

namespace fs = std::filesystem;

namespace {

constexpr const char* module = "rooflua.writers.formats";

/// The same with whole numbers as such: a count or a stamp is 1000000000, and not 1e+09.
Json with_integers(const Json& value) {
  if (value.is_array()) {
    Json out = Json::array();
    for (const Json& each : value.items()) out.push_back(with_integers(each));
    return out;
  }
  if (value.is_object()) {
    Json out = Json::object();
    for (const Json::Member& each : value.members()) out[each.key] = with_integers(each.value);
    return out;
  }
  constexpr double exact = 9007199254740992;  // 2^53
  if (!value.is_number() || std::abs(value.number()) > exact) return value;
  const double number = value.number();
  return number == std::floor(number) ? Json(static_cast<std::int64_t>(number)) : value;
}

/// The text of a file: a message, or one document, or one per line.
std::string text_of_told(const Json& told) {
  if (const Json* text = told.find("text")) return text->text();
  std::string out;
  const bool lines = told.find("lines")->boolean();
  for (const Json& each : told.find("documents")->items())
    out += dump_json(with_integers(each), lines ? -1 : 2) + "\n";
  return out;
}

Json facts_of(script::Scenario& scenario, std::size_t variant, const Json& document,
              const std::string& file) {
  Checksum checksum;
  checksum.add(dump_json(document));
  Json facts = scenario.facts(variant);
  facts["uid"] = checksum.hex();
  facts["build"] = build_stamp();
  facts["scenario"] = file;
  if (!scenario.title().empty()) facts["title"] = scenario.title();
  return facts;
}

}  // namespace

WrittenFiles::WrittenFiles(script::Vm& vm, const std::vector<std::string>& texts) : vm_(&vm) {
  for (const std::string& text : texts) {
    const std::size_t sign = text.find('=');
    if (sign == std::string::npos || sign + 1 == text.size())
      throw Misused("--write", "expected FORMAT=FILE, as llm-d=report.json, found '" + text + "'");
    File each{text.substr(0, sign), text.substr(sign + 1), false};
    each.requests = vm.call(module, "check", {Json(each.format)}).find("requests")->boolean();
    check_folder(each.path);
    if (each.requests && rows_.empty()) {
      const fs::path beside =
          each.path == "-" ? fs::temp_directory_path() / "rooflua" : fs::path(each.path);
      rows_ = beside.string() + "." + std::to_string(getpid()) + ".requests";
    }
    files_.push_back(std::move(each));
  }
}

WrittenFiles::~WrittenFiles() {
  if (rows_.empty()) return;
  std::error_code ignored;
  for (std::int64_t i = 0; i < total_; ++i) fs::remove(numbered(rows_, i, total_), ignored);
}

void WrittenFiles::check(script::Scenario& scenario) {
  total_ = scenario.total();
  for (const File& each : files_) {
    for (std::size_t i = 0; i < scenario.variants().size(); ++i)
      vm_->call(module, "ready", {Json(each.format), scenario.facts(i)});
  }
}

std::string WrittenFiles::rows(std::int64_t position, std::int64_t total) const {
  return numbered(rows_, position, total);
}

bool WrittenFiles::lacks_requests(const File& each, const std::string& rows,
                                  const std::string& to) {
  if (!each.requests || fs::exists(rows)) return false;
  std::fprintf(stderr,
               "rooflua: %s was not written: it has a row per request, and its run was kept "
               "before and is not run again; name another file for --results\n",
               to.c_str());
  return true;
}

bool WrittenFiles::write(script::Scenario& scenario,
                         const std::vector<script::VariantResult>& results,
                         const std::string& file) const {
  bool all = true;
  for (std::size_t i = 0; i < results.size() && !files_.empty(); ++i) {
    if (!results[i].known()) continue;
    const std::int64_t position = scenario.variants()[i].position;
    const std::string from = rows(position, scenario.total());
    const Json facts = facts_of(scenario, i, results[i].document, file);
    std::vector<std::pair<std::string, std::string>> texts;  // by path
    for (const File& each : files_) {
      const std::string to = numbered(each.path, position, scenario.total());
      if (lacks_requests(each, from, to)) {
        all = false;
        continue;
      }
      texts.emplace_back(
          to, text_of_told(vm_->call(module, "file",
                                     {Json(each.format), results[i].document, facts, Json(from)})));
    }
    // Before the texts are written, because a closed pipe ends the program at once.
    std::error_code ignored;
    if (!from.empty()) fs::remove(from, ignored);
    for (const auto& [path, text] : texts) write_text(text, path);
  }
  return all;
}

std::string numbered(const std::string& path, std::int64_t variant, std::int64_t count) {
  if (path.empty() || count == 1) return path;
  const fs::path whole(path);
  fs::path name = whole.stem();
  name += "." + std::to_string(variant + 1);
  name += whole.extension();
  return (whole.parent_path() / name).string();
}

}  // namespace rooflua::app
