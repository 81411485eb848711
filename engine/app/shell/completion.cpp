#include "app/shell/completion.h"

#include <algorithm>

#include "app/commands.h"
#include "base/error.h"
#include "base/json_text.h"
#include "script/scenario.h"
#include "script/vm/vm.h"
#include "spec/hardware.h"
#include "spec/model.h"

namespace rooflua::app {

namespace fs = std::filesystem;

namespace {

constexpr const char* files = ":files";

struct Candidate {
  std::string word, doc;
};
using Candidates = std::vector<Candidate>;

/// The line being completed: its command, the words before the cursor and the one at the cursor.
struct Line {
  Command command;
  std::vector<std::string> before;  // after the command
  std::string current;
};

Line line_of(const Command& app, const std::vector<std::string>& words) {
  Line line{app, {}, words.empty() ? "" : words.back()};
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const auto inner = line.before.empty() ? line.command.inner(words[i]) : std::nullopt;
    if (inner) {
      line.command = *inner;
    } else {
      line.before.push_back(words[i]);
    }
  }
  return line;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

Candidates named(const std::vector<std::string>& names) {
  Candidates out;
  for (const std::string& each : names) out.push_back({each, ""});
  return out;
}

std::unique_ptr<script::Vm> library(const fs::path& home, bool trusted) {
  return std::make_unique<script::Vm>(
      script::VmOptions{.home = home, .trusted = trusted, .timeout_s = 2, .print_to_stderr = true});
}

Candidates policies(const char* kind, const fs::path& home) {
  Candidates out;
  const Json listed = library(home, true)->call("rooflua", "list", {Json(kind)});
  for (const Json& each : listed.items())
    out.push_back({text_of(each, "name"), text_of(each, "doc")});
  return out;
}

/// Every topic of `rooflua help`.
Candidates topics(const Command& root, const fs::path& home) {
  Candidates out;
  for (const Command& each : root.commands()) out.push_back({each.name, first_line(each.doc)});
  const Json known = library(home, true)->call("rooflua.help.topics", "topics", {});
  for (const Json& each : known.items()) out.push_back({each.text(), ""});
  return out;
}

std::string plain_text(const Json& value) {
  return value.is_text() ? value.text() : dump_json(value);
}

/// What `--set` may name: "steps.host_step_s=", with the value that it has now; after the "=" that
/// value, or the names of models and GPUs.
Candidates settings(const Line& line, const fs::path& home) {
  const auto file = std::find_if(line.before.begin(), line.before.end(),
                                 [](const auto& word) { return word.ends_with(".lua"); });
  const auto vm = library(home, false);
  Json rows;
  if (file != line.before.end()) {
    rows = script::Scenario(*vm, fs::path(*file)).parameters();
  } else {
    Json batch = Json::object(), table = Json::object();
    batch["decodes"] = 1;
    table["kind"] = "price";
    table["model"] = "llama-3.1-8b";
    table["hardware"] = "h200-sxm";
    table["steps"] = "kernels";
    table["price"] = Json::array();
    table["price"].push_back(std::move(batch));
    rows = script::Scenario(*vm, table).parameters();
  }
  const std::string key = line.current.substr(0, line.current.find('='));
  const bool has_value = key.size() < line.current.size();
  const bool is_name = key == "model" || key == "hardware";
  Candidates out;
  for (const Json& row : rows.items()) {
    std::string path = text_of(row, "path");
    // The command `step` knows parameters of its step model by their own names.
    if (line.command.name == "step" && path.starts_with("steps.")) path.erase(0, 6);
    const std::string value = plain_text(*row.find("value"));
    if (!has_value) {
      out.push_back({path + "=", value + " " + text_of(row, "unit")});
    } else if (path == key && !is_name) {
      out.push_back({path + "=" + value, ""});
    }
  }
  if (has_value && is_name) {
    for (const std::string& each : key == "model" ? model_names(home) : all_hardware_names(home))
      out.push_back({key + "=" + each, ""});
  }
  return out;
}

Candidates values_of(const std::string& option, const Line& line, const fs::path& home) {
  if (option == "--set") return settings(line, home);
  if (option == "--model") {
    Candidates out = named(model_names(home));
    out.push_back({files, ""});
    return out;
  }
  if (option == "--hardware") return named(all_hardware_names(home));
  if (option == "--steps" && line.command.name == "trace") return {};  // steps of the trace
  if (option == "--steps") return policies("steps", home);
  if (option == "--engine" || option == "--engines") return policies("engines", home);
  if (option == "--kind") return named(template_kinds(home));
  if (option == "--layout") return named({"rooflua", "infersim", "blis", "aic"});
  if (option == "--write" && line.command.name == "run")
    return named({"aiperf=", "dynamo-planner=", "endpoint-picker=", "guidellm=", "hpa=",
                  "inference-objective=", "inferencex=", "keda=", "llm-d=", "otlp="});
  if (option == "--objective") return named({"mean", "median"});
  for (const char* each : {"--json", "--html", "--requests", "--trace", "--results", "--measured",
                           "--from", "--tables", "--to", "--dir", "--site", "--record", "--for",
                           "--progress", "--scenario", "--data"}) {
    if (option == each) return {{files, ""}};
  }
  return {};
}

Candidates options_of(const Command& command) {
  Candidates out;
  for (const Option& each : command.options()) {
    for (const std::string& name : each.long_names) out.push_back({name, first_line(each.doc)});
  }
  return out;
}

Candidates positional(const Command& root, const Line& line, const fs::path& home) {
  Candidates out;
  for (const Command& each : line.command.commands())
    if (line.before.empty()) out.push_back({each.name, first_line(each.doc)});
  if (!out.empty()) return out;
  const std::string& name = line.command.name;
  if (name == "help") return topics(root, home);
  if (name == "list") return named(list_kinds(home));
  if (name == "completion") return named({"bash", "zsh", "fish"});
  if (name == "new" || name == "step" || name == "capacity") return {};
  if (name == "describe" || name == "compare") out = named(all_hardware_names(home));
  out.push_back({files, ""});
  return out;
}

/// The option whose value is being typed; "" if it is none.
std::string awaiting(const Line& line) {
  const std::string last = line.before.empty() ? "" : line.before.back();
  for (const Option& each : line.command.options())
    if (last.starts_with("--") && each.name == last && each.least_values > 0) return last;
  return "";
}

Candidates candidates(const Command& app, const Line& line, const fs::path& home) {
  if (const std::string option = awaiting(line); !option.empty())
    return values_of(option, line, home);
  const std::size_t equals = line.current.find('=');
  if (line.current.starts_with("--") && equals != std::string::npos) {
    const std::string option = line.current.substr(0, equals);
    Line of_value = line;
    of_value.current = line.current.substr(equals + 1);
    Candidates out = values_of(option, of_value, home);
    for (Candidate& each : out) {
      if (each.word != files) each.word.insert(0, option + "=");
    }
    return out;
  }
  if (line.current.starts_with("-")) return options_of(line.command);
  return positional(app, line, home);
}

}  // namespace

std::string completions(const Command& app, const std::vector<std::string>& words,
                        const fs::path& home) {
  const Line line = line_of(app, words);
  std::string out;
  try {
    for (const Candidate& each : candidates(app, line, home)) {
      if (each.word != files && !each.word.starts_with(line.current)) continue;
      out += each.word + (each.doc.empty() ? "" : "\t" + first_line(each.doc)) + "\n";
    }
  } catch (const std::exception&) {
    return "";  // a line that cannot be completed is no reason to write over it
  }
  return out;
}

}  // namespace rooflua::app
