#pragma once
// Lines typed at a terminal: editing, completion, and a history in a file. Only this class uses
// libedit.

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace rooflua::app {

class LineEditor {
 public:
  struct Completion {
    std::size_t replaced = 0;  // a candidate replaces this many bytes before the cursor
    std::vector<std::string> candidates;
  };
  /// Given the line up to the cursor.
  using Complete = std::function<Completion(const std::string& before)>;

  /// @param history_file  is read now, and every line is appended to it; "" = no file
  LineEditor(std::filesystem::path history_file, Complete complete);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  enum class Got { line, cancelled, end };  // cancelled: Ctrl-C; end: Ctrl-D on an empty line
  Got read(const std::string& prompt, std::string& line);
  void remember(const std::string& text);

 private:
  struct Session;
  std::unique_ptr<Session> session_;
};

/// $ROOFLUA_HISTORY ("" = none), else rooflua/history in $XDG_STATE_HOME or ~/.local/state.
std::filesystem::path history_file();

}  // namespace rooflua::app
