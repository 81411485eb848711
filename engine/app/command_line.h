#pragma once
// Commands and options of the command line. This unit alone includes CLI11, which parses them: a
// file that includes CLI11 takes seconds more to compile.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace rooflua::app {

/// The chosen command as a function, called after the whole line has been parsed.
using Door = std::function<int(const std::filesystem::path& home)>;

/// What the value of an option must be.
struct Check {
  std::function<std::string(const std::string& given)> fault;  // "" for a value that is right
  std::string name;                                            // of such values, in the help
};

/// What a line must keep to with an option.
struct Rules {
  bool required = false;
  Check check = {};
  bool repeated = false;        // may be given again, and takes one value each time
  bool split = false;           // the value is split at commas
  const char* alone = nullptr;  // the value where the option stands without one
  const char* needs = nullptr;  // another option
  const char* excludes = nullptr;
};

/// An option, or a word that has no option before it, as the help shows it.
struct Option {
  std::string name;                                  // "--jobs"; of a word "scenario"
  std::vector<std::string> short_names, long_names;  // with their dashes
  std::string doc, type;
  bool is_word = false, is_required = false;
  int least_values = 0, most_values = 0;
  std::size_t times_given = 0;
};

/// A command, or the program itself. Copies mean the same command.
class Command {
 public:
  std::string name, doc;

  Command(CLI::App* app, Door* door);

  Command command(const char* called, const char* about) const;
  /// An option, or a word where the name has no dashes. What was given goes into `value`, which
  /// outlives the parsing: a text, an int, a double, an optional number, a list of texts.
  template <typename T>
  void option(const char* names, T& value, const char* about, const Rules& rules = {}) const;
  void flag(const char* names, bool& value, const char* about, const Rules& rules = {}) const;
  /// A flag that prints a text and ends the program.
  void answer(const char* names, std::function<std::string()> text, const char* about) const;
  /// One of the commands in this one must be named.
  void needs_command() const;
  /// All words behind the name are the command's own, also what looks like an option.
  void takes_all_words() const;
  void runs(Door function) const;

  std::vector<Command> commands() const;
  std::vector<Command> chosen() const;  // the command that was named, or none
  std::optional<Command> inner(
      const std::string& called) const;  // of its commands the one named so
  std::vector<Option> options() const;
  std::vector<std::string> words_left() const;  // which no option or command took
  std::string help(const std::string& called) const;

 private:
  CLI::App* app_;
  Door* door_;
};

/// What the parser says of a line that cannot be understood.
struct Misread {
  /// `answered`: nothing is wrong, and what was asked for is printed.
  enum class Kind { answered, missing, count, value, other } kind;
  std::string message;
};

class CommandLine {
 public:
  CommandLine(const char* name, const char* doc);
  ~CommandLine();
  Command program() const { return {app_.get(), door_.get()}; }
  /// @return the function of the chosen command
  /// @throws Misread
  Door parse(int argc, char** argv) const;

 private:
  std::unique_ptr<CLI::App> app_;
  std::unique_ptr<Door> door_;
};

}  // namespace rooflua::app
