// rooflua new NAME: copies a file of scripts/templates and fills in the file name. Beside it stands
// .luarc.json, which tells editors with lua-language-server where the types of the library are.

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "app/commands.h"
#include "app/options.h"
#include "app/output.h"
#include "base/error.h"
#include "base/json_text.h"
#include "base/printable.h"
#include "script/vm/vm.h"
#include "spec/layers.h"

namespace rooflua::app {

namespace fs = std::filesystem;

namespace {

std::string text_of_file(const fs::path& source) {
  std::ifstream in(source, std::ios::binary);
  std::ostringstream text;
  if (!(text << in.rdbuf())) throw Error(source.string(), "cannot be read");
  return text.str();
}

void replace_all(std::string& text, const std::string& mark, const std::string& value) {
  for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += value.size())
    text.replace(at, mark.size(), value);
}

void refuse_existing(const fs::path& file) {
  if (fs::exists(fs::symlink_status(file)))
    throw Error(file.string(), "is there already, and is left as it is");
}

/// The settings of lua-language-server for a folder of scenarios, with paths of this installation.
Json editor_settings(const fs::path& home) {
  const std::string scripts = (home / "scripts").generic_string();
  Json out = Json::object();
  out["runtime.version"] = "LuaJIT";
  out["runtime.path"] =
      texts_json({"?.lua", "?/init.lua", scripts + "/?.lua", scripts + "/lib/?.lua"});
  out["workspace.library"] = texts_json({scripts + "/meta", scripts + "/lib", scripts});
  out["workspace.checkThirdParty"] = false;
  return out;
}

/// A file that a kind writes beside the scenario.
struct Companion {
  fs::path source, target;
};

/// Data of the kind, as NAME.csv, and what is looked for in a folder of its own: engines/NAME.lua.
std::vector<Companion> companions(const std::string& kind, const fs::path& home,
                                  const fs::path& folder, const std::string& stem) {
  const fs::path templates = home / "scripts" / "templates";
  std::vector<Companion> out;
  for (const Companion& each :
       {Companion{templates / (kind + ".csv"), folder / (stem + ".csv")},
        {templates / "engines" / (kind + ".lua"), folder / "engines" / (stem + ".lua")},
        {templates / "campaigns" / (kind + ".lua"), folder / "campaigns" / (stem + ".lua")},
        {templates / "processors" / (kind + ".lua"), folder / "processors" / (stem + ".lua")},
        {templates / "layers" / (kind + ".lua"), folder / "layers" / "attention" / (stem + ".lua")}}) {
    if (fs::exists(each.source)) out.push_back(each);
  }
  return out;
}

/// The name of an engine stands before its release ("mine 1.0"), that of a campaign's template after
/// --on, and both in topics of help; that of a kind of layers in models.
void check_module_name(const std::string& kind, const std::string& stem, const fs::path& home) {
  if (kind != "engine" && kind != "campaign" && kind != "layer" && kind != "processor") return;
  const auto fits = [](char c) { return std::islower(c) || std::isdigit(c) || c == '_'; };
  if (kind == "layer" && value_named(attention_words, stem))
    throw Error(stem, "is the word of a kind of the program; take another name");
  if (!std::islower(stem.front()) || !std::all_of(stem.begin(), stem.end(), fits))
    throw Error(stem, "the name of this " + kind + " has small letters, digits and _ only");
  if (fs::exists(home / "scripts" / (kind + "s") / (stem + ".lua")))
    throw Error(stem, "is the name of a shipped " + kind + "; take another one");
}

/// The kind that a word names: a kind, or the folder of its policies as `rooflua list` prints it
/// (schedulers, strategies). Empty where it is none.
std::string kind_named(const std::string& word, const std::vector<std::string>& kinds) {
  for (const std::string& kind : kinds) {
    const std::string stem = kind.substr(0, kind.size() - 1);
    if (word == kind || word == kind + "s" || (kind.back() == 'y' && word == stem + "ies"))
      return kind;
  }
  return "";
}

/// What has no file of Lua, and so no kind: where it is written instead.
std::string written_elsewhere(const std::string& word) {
  if (word == "model" || word == "models")
    return "a model is no policy: --model takes its config.json or a .toml file; see docs/MODELS.md";
  if (word == "hardware" || word == "gpu" || word == "gpus")
    return "a GPU is no policy but a folder of data, which `rooflua data add` installs; see "
           "docs/GPUS.md";
  return "";
}

/// A name without quotes as a word of a shell.
std::string shell_word(const std::string& name) {
  const bool is_word = name.find_first_of(" $&;()|<>*?#~!`[]{}=") == std::string::npos;
  return is_word ? name : "'" + name + "'";
}

}  // namespace

namespace {

/// The template of a launch command, filled in by scripts/lib/rooflua/applied/template.lua.
std::string text_of_command(const NewArguments& arguments, const fs::path& home) {
  if (!arguments.kind.empty() && arguments.kind != "serve")
    throw Misused("--kind", "with --command or --from the kind is serve");
  if (arguments.hardware.empty() && arguments.from.empty())
    throw Misused("--command", "needs --hardware: the GPU that it runs on, as in h100-sxm");
  const fs::path source = home / "scripts" / "templates" / "command" / "serve.lua";
  script::Vm vm({.home = home});
  const script::LaunchCommand command =
      launch_command(arguments.command, arguments.engine, arguments.model, arguments.from);
  return vm
      .call("rooflua.applied.template", "fill",
            {Json(text_of_file(source)), command.json(), Json(arguments.hardware)})
      .text();
}

/// The text of a kind, with marks for names.
std::string template_text(const NewArguments& arguments, const fs::path& home) {
  if (!arguments.command.empty() || !arguments.from.empty())
    return text_of_command(arguments, home);
  for (const auto& [option, value] : {std::pair{"--engine", &arguments.engine},
                                      {"--model", &arguments.model},
                                      {"--hardware", &arguments.hardware}}) {
    if (!value->empty()) throw Misused(option, "goes with --command or --from; without it edit the scenario");
  }
  const std::string kind = arguments.kind.empty() ? "serve" : arguments.kind;
  return text_of_file(home / "scripts" / "templates" / (kind + ".lua"));
}

/// The arguments with the name of a template as their kind.
NewArguments with_kind(NewArguments arguments, const fs::path& home) {
  if (arguments.kind.empty()) return arguments;
  const std::vector<std::string> known = template_kinds(home);
  const std::string kind = kind_named(arguments.kind, known);
  if (const std::string told = written_elsewhere(arguments.kind); kind.empty() && !told.empty())
    throw Error("--kind " + arguments.kind, told);
  if (kind.empty()) throw Error("--kind", unknown_name("kind", arguments.kind, known));
  arguments.kind = kind;
  return arguments;
}

/// A file that starts a deployment, in a form of scripts/lib/rooflua/manifests.
int write_manifest(const NewArguments& arguments, const fs::path& home) {
  if (!arguments.kind.empty()) throw Misused("--kind", "and --as: give one of them");
  script::Vm vm({.home = home});
  const script::LaunchCommand command =
      launch_command(arguments.command, arguments.engine, arguments.model, arguments.from);
  const Json answer = vm.call("rooflua.program.manifests", "run",
                              {Json(arguments.form), command.json(), Json(arguments.hardware),
                               Json(fs::path(arguments.name).stem().string())});
  fs::path file(arguments.name);
  if (!file.has_extension()) file += text_of(answer, "extension");
  refuse_existing(file);
  if (!file.parent_path().empty() && !fs::is_directory(file.parent_path()))
    throw Error(file.string(), "there is no folder " + file.parent_path().string());
  write_text(text_of(answer, "text"), file.string());
  std::printf("wrote %s; next:\n  rooflua files %s\n%s", file.c_str(),
              shell_word(file.generic_string()).c_str(), printable(text_of(answer, "notes")).c_str());
  return 0;
}

}  // namespace

std::vector<std::string> template_kinds(const fs::path& home) {
  std::vector<std::string> out;
  for (const auto& each : fs::directory_iterator(home / "scripts" / "templates")) {
    if (each.path().extension() == ".lua") out.push_back(each.path().stem().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

int write_template(const NewArguments& given, const fs::path& home) {
  const NewArguments arguments = with_kind(given, home);
  const std::string& name = arguments.name;
  const std::string stem = fs::path(name).stem().string();
  if (stem.empty() || stem.front() == '.' || name.front() == '-')
    throw Error(name, "expected a name: rooflua new my_question");
  // The name stands in a text of Lua, in a comment, and in commands to copy.
  if (!is_plain(name) || name.find_first_of("'\"\\") != std::string::npos)
    throw Error(printable(name), "expected a name without quotes, backslashes and line breaks");
  if (!arguments.form.empty()) return write_manifest(arguments, home);
  fs::path file(name);
  if (file.extension() != ".lua") file += ".lua";
  const std::string text = template_text(arguments, home);
  check_module_name(arguments.kind, stem, home);
  const auto beside = companions(arguments.kind, home, file.parent_path(), stem);
  refuse_existing(file);
  for (const Companion& each : beside) refuse_existing(each.target);
  if (!file.parent_path().empty() && !fs::is_directory(file.parent_path()))
    throw Error(file.string(), "there is no folder " + file.parent_path().string());
  const std::string word = shell_word(file.generic_string());
  const auto filled = [&](std::string marked) {
    replace_all(marked, "@FILE@", word);
    replace_all(marked, "@STEM@.sqlite", shell_word(stem + ".sqlite"));
    replace_all(marked, "@STEM@", stem);
    return marked;
  };
  write_text(filled(text), file.string());
  std::string also;
  for (const Companion& each : beside) {
    if (each.target.has_parent_path()) make_folder(each.target.parent_path().string());
    write_text(filled(text_of_file(each.source)), each.target.string());
    also += " and " + each.target.string();
  }
  if (const fs::path settings = file.parent_path() / ".luarc.json"; !fs::exists(settings))
    write_text(dump_json(editor_settings(home), 2) + "\n", settings.string());
  std::printf("wrote %s%s; next:\n  rooflua check %s\n  rooflua run %s\n", file.c_str(),
              also.c_str(), word.c_str(), word.c_str());
  return 0;
}

void add_new(const Command& app) {
  const Command command = app.command("new", "Write a commented starting scenario");
  auto* a = new NewArguments;
  command.option("name", a->name, "my_question: writes my_question.lua", {.required = true});
  command.option("--kind", a->kind,
                 "What it asks: serve (default), users, price, search, plan, replay, disaggregation; or "
                 "what is your own: scheduler, router, workload, steps, lookup, bucketing, "
                 "correction, metric, speculator, acceptance, drafter, tiers, eviction, decider, "
                 "admission, client, autoscaler, faults, balancer, candidates, objective, "
                 "strategy, power, campaign, engine, layer, processor");
  add_command(command, a->command, &a->model);
  add_from(command, a->from);
  command.option("--as", a->form,
                 "With --command or --from (files, or a scenario): write what starts it in this form",
                 {.check = one_of({"kubernetes", "lws", "kserve", "dynamo", "helm", "compose",
                                   "slurm"})});
  command.option("--engine", a->engine, "With --command: the release, as in \"vllm 0.19\"");
  command.option("--hardware", a->hardware, "With --command or --from: the GPU that it runs on");
  command.runs([a](const fs::path& home) { return write_template(*a, home); });
}

}  // namespace rooflua::app
