// The prompt: reads, evaluates, prints. scripts/lib/rooflua/repl/session.lua evaluates a line; this
// file reads lines, prints errors and ends the session.

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "app/commands.h"
#include "app/line_editor.h"
#include "base/error.h"
#include "script/vm/vm.h"

namespace rooflua::app {

namespace {

enum class Outcome { done, incomplete, quit, failed };

int columns() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20) return size.ws_col;
  if (const char* given = std::getenv("COLUMNS")) {
    if (const int columns = std::atoi(given); columns >= 20) return columns;
  }
  return 100;
}

/// The frames of the traceback that belong to the user's code; "" if there is only one, because the
/// message names it already.
std::string own_frames(const std::string& traceback) {
  std::string out;
  int frames = 0;
  for (std::size_t begin = 0; begin < traceback.size();) {
    std::size_t end = traceback.find('\n', begin);
    if (end == std::string::npos) end = traceback.size();
    const std::string line = traceback.substr(begin, end - begin);
    begin = end + 1;
    if (line.find("rooflua.repl.session:") != std::string::npos) break;
    if (line.rfind("stack traceback:", 0) == 0 || line.find("[C]:") != std::string::npos ||
        line.find("[builtin#") != std::string::npos || line.find("rooflua.") != std::string::npos) {
      continue;
    }
    out += "\n" + line;
    ++frames;
  }
  return frames > 1 ? out : "";
}

/// The message with the line of a piped session in front, unless the message names it already.
/// @param line  0 at the prompt
std::string at(int line, const std::string& message) {
  if (line == 0 || message.rfind("stdin:", 0) == 0) return message;
  return "stdin:" + std::to_string(line) + ": " + message;
}

/// Joins input of several lines, so that it can be recalled and edited as one line. Input with a
/// comment or a long string stays as it is, because joining would change its meaning.
std::string in_one_line(std::string text) {
  if (text.find("--") != std::string::npos || text.find("[[") != std::string::npos ||
      text.find("[=") != std::string::npos) {
    return text;
  }
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) {
    const std::size_t next = text.find_first_not_of(" \t", at + 1);
    text.replace(at, (next == std::string::npos ? text.size() : next) - at, " ");
  }
  return text;
}

class Prompt {
 public:
  explicit Prompt(const std::filesystem::path& home) : vm_({.home = home, .trusted = true}) {
    vm_.call("rooflua.repl.session", "settle", {});  // loads the library, or fails here and once
  }

  /// @param line  number of the first line of `text` in a piped session, 0 at the prompt
  Outcome evaluate(const std::string& text, int line) {
    vm_.clear_interrupt();
    try {
      const Json status =
          vm_.call("rooflua.repl.session", "eval",
                   {Json(text), Json(std::int64_t{line}), Json(std::int64_t{columns()})});
      std::fflush(stdout);
      if (status.text() == "incomplete") return Outcome::incomplete;
      return status.text() == "quit" ? Outcome::quit : Outcome::done;
    } catch (const script::LuaError& error) {
      complain(at(line, error.what()) + own_frames(error.traceback()));
    } catch (const std::exception& error) {
      complain(at(line, message_of(error)));
    }
    return Outcome::failed;
  }

  LineEditor::Completion complete(const std::string& before) {
    LineEditor::Completion out;
    try {
      const Json found = vm_.call("rooflua.repl.session", "complete", {Json(before)});
      out.replaced = static_cast<std::size_t>(found.find("replaced")->integer());
      for (const Json& each : found.find("candidates")->items())
        out.candidates.push_back(each.text());
    } catch (const std::exception&) {
      out.candidates.clear();  // completion has no error messages: it offers nothing
    }
    return out;
  }

 private:
  void complain(const std::string& message) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", message.c_str());
    try {
      const Json note = vm_.call("rooflua.repl.session", "settle", {});
      if (!note.text().empty()) std::fprintf(stderr, "%s\n", note.text().c_str());
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
  }

  script::Vm vm_;
};

int at_terminal(Prompt& prompt) {
  LineEditor editor(history_file(),
                    [&](const std::string& before) { return prompt.complete(before); });
  std::string line, text;
  while (true) {
    const LineEditor::Got got = editor.read(text.empty() ? "> " : ">> ", line);
    if (got == LineEditor::Got::end) return 0;
    if (got == LineEditor::Got::cancelled) {
      text.clear();
      continue;
    }
    text += (text.empty() ? "" : "\n") + line;
    const Outcome outcome = prompt.evaluate(text, 0);
    if (outcome == Outcome::incomplete) continue;
    editor.remember(in_one_line(text));
    text.clear();
    if (outcome == Outcome::quit) return 0;
  }
}

/// Evaluates the standard input and prints results only. Continues after a mistake; the exit status
/// is then 1.
int piped(Prompt& prompt) {
  std::string line, text;
  int number = 0, first = 1, status = 0;
  while (std::getline(std::cin, line)) {
    ++number;
    if (text.empty()) first = number;
    text += (text.empty() ? "" : "\n") + line;
    const Outcome outcome = prompt.evaluate(text, first);
    if (outcome == Outcome::incomplete) continue;
    text.clear();
    if (outcome == Outcome::quit) return status;
    if (outcome == Outcome::failed) status = 1;
  }
  if (text.empty()) return status;
  std::fprintf(stderr, "stdin:%d: this is not finished: %s\n", first, text.c_str());
  return 1;
}

}  // namespace

int repl(const std::string& scenario, const std::filesystem::path& home) {
  const bool terminal = ::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0;
  Prompt prompt(home);
  if (terminal)
    std::puts("rooflua: Lua at the prompt. :help for help, Tab completes, Ctrl-D leaves.");
  if (!scenario.empty() && prompt.evaluate(":open " + scenario, 0) == Outcome::failed &&
      !terminal) {
    return 1;
  }
  return terminal ? at_terminal(prompt) : piped(prompt);
}

}  // namespace rooflua::app
