// What tables.toml says of an imported published table.

#include <algorithm>
#include <set>

#include "cost/tables/published_table.h"

namespace rooflua {
namespace {

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string list(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& each : texts) out += (out.empty() ? "" : ", ") + in_quotes(each);
  return "[" + out + "]";
}

std::string_view spelled(std::string_view engine) {
  for (const PublishedEngine& each : published_engines())
    if (each.name == engine) return each.title;
  return engine;
}

/// What the parts say, each text once, in order.
template <class Part>
std::string joined(const std::vector<const KernelTable*>& parts, std::string_view between,
                   Part each_part) {
  std::string text;
  std::set<std::string> seen;
  for (const KernelTable* part : parts) {
    for (const std::string& each : each_part(*part)) {
      if (!each.empty() && seen.insert(each).second)
        text += (text.empty() ? "" : std::string(between)) + each;
    }
  }
  return text;
}

}  // namespace

std::string published_provenance(const std::vector<const KernelTable*>& parts) {
  using Texts = std::vector<std::string>;
  const KernelTable& first = *parts.front();
  const PublishedOrigin& origin = *first.origin;
  const PublishedMap& map = *origin.map;
  const OpDeclaration& op = declaration_of(first.op);
  const std::string versions =
      joined(parts, ", ", [](const KernelTable& part) { return Texts{part.origin->version}; });
  const std::string kernels =
      joined(parts, ", ", [](const KernelTable& part) { return part.origin->kernels; });
  const std::string files =
      joined(parts, " and ", [](const KernelTable& part) { return Texts{plain_name(part.path)}; });
  const std::string device =
      joined(parts, ", ", [](const KernelTable& part) { return Texts{part.origin->device}; });
  std::string note(map.note);
  for (const std::string_view mark : origin.marks)
    note += (note.empty() ? "" : "; ") + std::string(mark);
  const std::string library = map.library.empty() || !origin.publisher.empty()
                                  ? origin.publisher
                                  : std::string(map.library);
  std::string out;
  const auto say = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) out += std::string(key) + " = " + value + "\n";
  };
  const auto say_text = [&](std::string_view key, std::string_view value) {
    if (!value.empty()) say(key, in_quotes(value));
  };
  say_text("op", op.name);
  say_text("dtype", name(first.dtype));
  if (op.format_of_kv) say_text("kv_dtype", name(first.dtype));
  say_text("engine", origin.publisher);
  say_text("engine_version", versions);
  if (!first.engines.empty()) say("engines", list(first.engines));
  say_text("kernel", kernels.empty() ? "not published" : kernels);
  say_text("library", std::string(spelled(library)) + (versions.empty() ? "" : " " + versions));
  say_text("project", "github.com/ai-dynamo/aiconfigurator");
  say_text("source", "aic: " + files);
  say_text("licence", "Apache-2.0");
  say_text("timer", map.timer);
  const bool graph = map.timer.starts_with("graph");
  say("warm_up", graph ? "3" : "\"not published\"");
  say("repeats", graph ? "6" : "\"not published\"");
  say_text("statistic", "mean");
  say_text("cache", "not flushed");
  say_text("flop", name(first.convention));
  if (!first.includes.empty()) say("includes", list(first.includes));
  say_text("shape", map.shape);
  say_text("gpu", device.empty() ? "not published" : device);
  for (const char* key : {"driver", "clocks", "date"}) say_text(key, "not published");
  say_text("note", note);
  return out;
}

}  // namespace rooflua
