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

/// "\fB\-\-jobs\fR \fIN\fR"
std::string head_of(const Option& option) {
  std::string out;
  for (const auto* names : {&option.short_names, &option.long_names})
    for (const std::string& name : *names) out += "\\fB" + literal(name) + "\\fR, ";
  if (out.empty()) return "\\fI" + literal(upper(option.name)) + "\\fR";
  out.resize(out.size() - 2);
  if (option.most_values == 0) return out;
  const std::string value = option.type.starts_with("INT") ? "N"
                            : option.type.starts_with("FLOAT")
                                ? "NUMBER"
                                : upper(option.long_names.front().substr(2));
  return out + " \\fI" + literal(value) + "\\fR";
}

void add_options(std::string& out, const Command& command) {
  for (const bool words : {true, false}) {
    for (const Option& each : command.options()) {
      if (each.is_word == words && each.name != "--help")
        out += ".TP\n" + head_of(each) + "\n" + literal(each.doc) + "\n";
    }
  }
}

/// "\fBrooflua run\fR [\fIOPTION\fR]... \fISCENARIO\fR"
std::string synopsis(const std::string& name, const Command& command) {
  std::string out = "\\fB" + literal(name) + "\\fR [\\fIOPTION\\fR]...";
  for (const Option& each : command.options()) {
    if (!each.is_word) continue;
    const std::string shown = "\\fI" + literal(upper(each.name)) + "\\fR";
    out +=
        (each.is_required ? " " + shown : " [" + shown + "]") + (each.most_values > 1 ? "..." : "");
  }
  return out;
}

void add_described(std::string& out, const std::string& name, const Command& command) {
  out += ".SS " + literal(name) + "\n" + literal(command.doc) + ".\n.PP\n" +
         synopsis(name, command) + "\n";
  add_options(out, command);
  for (const Command& each : command.commands()) add_described(out, name + " " + each.name, each);
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

std::string manual_page(const Command& app) {
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
  for (const Command& each : app.commands()) add_described(out, each.name, each);
  return out + ending;
}

}  // namespace rooflua::app
