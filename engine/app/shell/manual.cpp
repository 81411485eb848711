#include "app/shell/manual.h"

#include <algorithm>
#include <cctype>

#ifndef ROOFLUA_VERSION
#define ROOFLUA_VERSION "unknown"
#endif

namespace rooflua::app {

namespace {

/// Text as roff takes it literally.
std::string literal(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c == '\n' ? ' ' : c;
    }
  }
  if (!out.empty() && (out.front() == '.' || out.front() == '\'')) out.insert(0, "\\&");
  return out;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

/// "\fB\-\-jobs\fR \fIN\fR"
std::string head_of(const CLI::Option& option) {
  std::string out;
  for (const std::string& name : option.get_snames()) out += "\\fB\\-" + literal(name) + "\\fR, ";
  for (const std::string& name : option.get_lnames())
    out += "\\fB\\-\\-" + literal(name) + "\\fR, ";
  if (out.empty()) return "\\fI" + literal(upper(option.get_name())) + "\\fR";
  out.resize(out.size() - 2);
  if (!takes_value(option)) return out;
  const std::string type = option.get_type_name();
  const std::string value = type.starts_with("INT")     ? "N"
                            : type.starts_with("FLOAT") ? "NUMBER"
                                                        : upper(option.get_lnames().front());
  return out + " \\fI" + literal(value) + "\\fR";
}

void add_options(std::string& out, const CLI::App& command) {
  for (const bool positional : {true, false}) {
    for (const CLI::Option* each : command.get_options()) {
      if (each->get_positional() != positional || each->check_lname("help")) continue;
      out += ".TP\n" + head_of(*each) + "\n" + literal(each->get_description()) + "\n";
    }
  }
}

/// "\fBrooflua run\fR [\fIOPTION\fR]... \fISCENARIO\fR"
std::string synopsis(const std::string& name, const CLI::App& command) {
  std::string out = "\\fB" + literal(name) + "\\fR [\\fIOPTION\\fR]...";
  for (const CLI::Option* each : command.get_options()) {
    if (!each->get_positional()) continue;
    const std::string shown = "\\fI" + literal(upper(each->get_name())) + "\\fR";
    const bool many = each->get_items_expected_max() > 1;
    out += (each->get_required() ? " " + shown : " [" + shown + "]") + (many ? "..." : "");
  }
  return out;
}

void add_command(std::string& out, const std::string& name, const CLI::App& command) {
  out += ".SS " + literal(name) + "\n" + literal(command.get_description()) + ".\n.PP\n" +
         synopsis(name, command) + "\n";
  add_options(out, command);
  for (const CLI::App* each : command.get_subcommands([](const CLI::App*) { return true; }))
    add_command(out, name + " " + each->get_name(), *each);
}

constexpr const char* ending = R"(.SH ENVIRONMENT
.TP
.B ROOFLUA_HOME
The folder that holds scripts, scenarios and bench_data, instead of the installed one.
.TP
.B ROOFLUA_GPUS
The folder of GPUs that
.B rooflua data add
fills, instead of rooflua/gpus in XDG_DATA_HOME or ~/.local/share.
.TP
.B ROOFLUA_HISTORY
The file that keeps the lines typed at the prompt of
.BR "rooflua repl" .
.TP
.BR NO_COLOR ", " TERM
With NO_COLOR set to anything, or TERM set to dumb, nothing is written in colour.
.SH EXIT STATUS
.TP
.B 0
Success.
.TP
.B 1
A mistake in a scenario, a failed check, or a run that is not complete.
.TP
.B 2
Wrong usage.
.TP
.B 70
A defect of the program.
.TP
.B 130
Stopped by Ctrl\-C; what was known is reported.
.SH EXAMPLES
.TP
.B rooflua new chat; rooflua run chat.lua
A first question and its answer.
.TP
.B rooflua step \-\-model llama\-3.1\-8b \-\-hardware h100 \-\-decode 4000x32 \-\-explain
What a step of 32 decodes costs, operation by operation.
.TP
.B rooflua help steps.kernels
The parameters of a policy, with units and sources.
)";

}  // namespace

std::string manual_page(const CLI::App& app) {
  std::string out =
      ".TH ROOFLUA 1 \"" ROOFLUA_DATE "\" \"rooflua " ROOFLUA_VERSION
      "\" \"User Commands\"\n"
      ".SH NAME\nrooflua \\- a laboratory for the performance of LLM inference\n"
      ".SH SYNOPSIS\n\\fBrooflua\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]...\n"
      ".SH DESCRIPTION\n"
      "rooflua answers two questions: what does a step of LLM inference cost, and "
      "what happens\nif the same requests are served differently. A scenario is a Lua "
      "file. Every choice that may\nbe doubted is a Lua script that is exchanged "
      "without compiling.\n";
  add_options(out, app);
  out += ".SH COMMANDS\n";
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; }))
    add_command(out, each->get_name(), *each);
  return out + ending;
}

}  // namespace rooflua::app
