#include "app/written.h"

#include <filesystem>

#include "app/commands.h"
#include "app/output.h"
#include "base/build_stamp.h"
#include "base/checksum.h"
#include "base/error.h"

#ifndef ROOFLUA_VERSION
#define ROOFLUA_VERSION "unknown"
#endif

namespace rooflua::app {

std::vector<WrittenFile> written_files(script::Vm& vm, const std::vector<std::string>& texts) {
  std::vector<WrittenFile> out;
  for (const std::string& text : texts) {
    const std::size_t sign = text.find('=');
    if (sign == std::string::npos || sign + 1 == text.size())
      throw Misused("--write", "expected FORMAT=FILE, as llm-d=report.json, found '" + text + "'");
    const WrittenFile each{text.substr(0, sign), text.substr(sign + 1)};
    vm.call("rooflua.formats.written", "check", {Json(each.format)});
    check_folder(each.path);
    out.push_back(each);
  }
  return out;
}

void write_formats(script::Vm& vm, const script::Scenario& scenario,
                   const std::vector<script::VariantResult>& results, const std::string& file,
                   const std::vector<WrittenFile>& written) {
  for (const WrittenFile& each : written) {
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!results[i].known()) continue;
      Checksum checksum;
      checksum.add(dump_json(results[i].document));
      Json facts = Json::object();
      facts["uid"] = checksum.hex();
      facts["build"] = build_stamp();
      facts["scenario"] = file;
      if (!scenario.title().empty()) facts["title"] = scenario.title();
      write_document(vm.call("rooflua.formats.written", "document",
                             {Json(each.format), results[i].document, facts}),
                     numbered(each.path, scenario.variants()[i].position, scenario.total()));
    }
  }
}

std::string numbered(const std::string& path, std::int64_t variant, std::int64_t count) {
  if (path.empty() || count == 1) return path;
  const std::filesystem::path whole(path);
  std::filesystem::path name = whole.stem();
  name += "." + std::to_string(variant + 1);
  name += whole.extension();
  return (whole.parent_path() / name).string();
}

}  // namespace rooflua::app
