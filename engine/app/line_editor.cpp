#include "app/line_editor.h"

#include <histedit.h>
#include <langinfo.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/log.h"

namespace rooflua::app {

struct LineEditor::Session {
  EditLine* editor = nullptr;
  History* history = nullptr;
  std::filesystem::path file;
  Complete complete;
  std::string prompt;
  bool cancelled = false;
  bool pasting = false;
};

namespace {

constexpr int most_history = 2000;  // lines of history that are kept

template <class Session>
Session& session_of(EditLine* editor) {
  void* data = nullptr;
  el_get(editor, EL_CLIENTDATA, &data);
  return *static_cast<Session*>(data);
}

/// The longest text with which all names begin.
std::string common_prefix(const std::vector<std::string>& names) {
  std::string prefix = names.front();
  for (const std::string& each : names) {
    std::size_t same = 0;
    while (same < prefix.size() && same < each.size() && prefix[same] == each[same]) ++same;
    prefix.resize(same);
  }
  return prefix;
}

/// Cuts off the part up to the last dot or slash that all names share: "schedulers.vllm_v1" is
/// listed as "vllm_v1".
std::vector<std::string> short_names(const std::vector<std::string>& names) {
  const std::string prefix = common_prefix(names);
  const std::size_t cut = prefix.find_last_of("./");
  std::vector<std::string> out;
  for (const std::string& each : names)
    out.push_back(cut == std::string::npos ? each : each.substr(cut + 1));
  return out;
}

void print_columns(const std::vector<std::string>& names, int width) {
  std::size_t longest = 0;
  for (const std::string& each : names) longest = std::max(longest, each.size());
  const std::size_t columns =
      std::max<std::size_t>(1, static_cast<std::size_t>(width) / (longest + 2));
  const std::size_t rows = (names.size() + columns - 1) / columns;
  std::fputc('\n', stdout);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = row; i < names.size(); i += rows) {
      const bool last = i + rows >= names.size();
      std::printf("%-*s", last ? 0 : static_cast<int>(longest + 2), names[i].c_str());
    }
    std::fputc('\n', stdout);
  }
  std::fflush(stdout);
}

template <class Session>
unsigned char on_tab(EditLine* editor, int) {
  if (session_of<Session>(editor).pasting)
    return el_insertstr(editor, "\t") == 0 ? CC_REFRESH : CC_ERROR;
  const LineInfo* line = el_line(editor);
  const std::string before(line->buffer, line->cursor);
  if (before.find_first_not_of(" \t") == std::string::npos) {
    return el_insertstr(editor, "  ") == 0 ? CC_REFRESH : CC_ERROR;
  }
  const LineEditor::Completion found = session_of<Session>(editor).complete(before);
  if (found.candidates.empty()) return CC_ERROR;
  const std::string prefix = common_prefix(found.candidates);
  if (prefix.size() > found.replaced) {
    el_deletestr(editor, static_cast<int>(found.replaced));
    el_insertstr(editor, prefix.c_str());
    return CC_REFRESH;
  }
  if (found.candidates.size() == 1) return CC_REFRESH;
  int columns = 80;
  el_get(editor, EL_GETTC, "co", &columns);
  print_columns(short_names(found.candidates), columns);
  return CC_REDISPLAY;
}

template <class Session>
unsigned char on_cancel(EditLine* editor, int) {
  session_of<Session>(editor).cancelled = true;
  return CC_EOF;
}

/// Asks the terminal to mark pasted text, so that its Tabs are inserted and complete nothing.
void mark_pastes(bool on) {
  const char* terminal = std::getenv("TERM");
  if (terminal == nullptr || std::strcmp(terminal, "dumb") == 0) return;
  std::fputs(on ? "\033[?2004h" : "\033[?2004l", stdout);
  std::fflush(stdout);
}

template <class Session, bool begins>
unsigned char on_paste(EditLine* editor, int) {
  session_of<Session>(editor).pasting = begins;
  return CC_NORM;
}

unsigned char on_suspend(EditLine*, int) {
  mark_pastes(false);
  std::raise(SIGTSTP);
  mark_pastes(true);
  return CC_REDISPLAY;
}

template <class Session>
char* prompt_of(EditLine* editor) {
  return session_of<Session>(editor).prompt.data();
}

void bind_keys(EditLine* editor) {
  const std::pair<const char*, const char*> keys[] = {
      {"^I", "rooflua-complete"},    {"^C", "rooflua-cancel"},
      {"^Z", "rooflua-suspend"},     {"^R", "em-inc-search-prev"},
      {"\\e[200~", "rooflua-paste"}, {"\\e[201~", "rooflua-pasted"},
      {"^W", "ed-delete-prev-word"}, {"\\e[1;5D", "ed-prev-word"},
      {"\\e[1;5C", "em-next-word"},  {"\\e[H", "ed-move-to-beg"},
      {"\\e[F", "ed-move-to-end"},   {"\\e[1~", "ed-move-to-beg"},
      {"\\e[4~", "ed-move-to-end"},  {"\\e[3~", "ed-delete-next-char"}};
  for (const auto& [key, action] : keys) el_set(editor, EL_BIND, key, action, nullptr);
}

/// Multibyte input needs a UTF-8 locale. Only LC_CTYPE is set, so that numbers keep their decimal
/// point.
void use_utf8() {
  std::setlocale(LC_CTYPE, "");
  if (std::strcmp(nl_langinfo(CODESET), "UTF-8") != 0) std::setlocale(LC_CTYPE, "C.UTF-8");
}

/// Appends one line to the history file immediately: two sessions keep each other's lines, and a
/// session that is killed loses none.
bool append(const std::filesystem::path& path, const std::string& line) {
  std::FILE* file = std::fopen(path.c_str(), "a");
  if (file == nullptr) return false;
  ::fchmod(::fileno(file), S_IRUSR | S_IWUSR);
  std::fseek(file, 0, SEEK_END);   // libedit writes its header if the position is 0
  History* only = history_init();  // releases of libedit differ in which entry of several is newest
  HistEvent event;
  history(only, &event, H_SETSIZE, 1);
  history(only, &event, H_ENTER, line.c_str());
  const bool written = history(only, &event, H_SAVE_FP, file) >= 0;
  history_end(only);
  return std::fclose(file) == 0 && written;
}

/// Replaces a history file that has twice as many lines as are kept by a shorter one, in one
/// rename.
template <class Session>
void shorten_file(const Session& session) {
  const std::string shorter = session.file.string() + "." + std::to_string(::getpid());
  HistEvent event;
  std::error_code ignored;
  if (history(session.history, &event, H_SAVE, shorter.c_str()) >= 0) {
    ::chmod(shorter.c_str(), S_IRUSR | S_IWUSR);
    std::filesystem::rename(shorter, session.file, ignored);
  }
  std::filesystem::remove(shorter, ignored);
}

/// @return false if the file is not a history; it is then not changed
template <class Session>
bool load_history(const Session& session) {
  std::error_code none;
  const auto size = std::filesystem::file_size(session.file, none);
  if (none || size == 0) return true;
  HistEvent event;
  const int lines = history(session.history, &event, H_LOAD, session.file.c_str());
  if (lines >= 2 * most_history) shorten_file(session);
  if (lines >= 0) return true;
  log::warn(session.file.string() + " is no history of this program; it is left alone");
  return false;
}

}  // namespace

LineEditor::LineEditor(std::filesystem::path history_file, Complete complete)
    : session_(std::make_unique<Session>()) {
  use_utf8();
  Session& session = *session_;
  session.complete = std::move(complete);
  session.file = std::move(history_file);
  session.editor = el_init("rooflua", stdin, stdout, stderr);
  EditLine* editor = session.editor;
  el_set(editor, EL_CLIENTDATA, &session);
  el_set(editor, EL_PROMPT, &prompt_of<Session>);
  el_set(editor, EL_EDITOR, "emacs");
  el_set(editor, EL_SIGNAL, 1);
  el_set(editor, EL_SETTY, "-d", "-isig", nullptr);  // at the prompt Ctrl-C is a key, not a signal
  el_set(editor, EL_ADDFN, "rooflua-complete", "complete the word", &on_tab<Session>);
  el_set(editor, EL_ADDFN, "rooflua-cancel", "forget the line", &on_cancel<Session>);
  el_set(editor, EL_ADDFN, "rooflua-suspend", "stop until fg", &on_suspend);
  el_set(editor, EL_ADDFN, "rooflua-paste", "a paste begins", &on_paste<Session, true>);
  el_set(editor, EL_ADDFN, "rooflua-pasted", "a paste ends", &on_paste<Session, false>);
  bind_keys(editor);
  el_source(editor, nullptr);  // read last, so that the user's ~/.editrc overrides these keys
  session.history = history_init();
  HistEvent event;
  history(session.history, &event, H_SETSIZE, most_history);
  history(session.history, &event, H_SETUNIQUE, 1);
  el_set(editor, EL_HIST, history, session.history);
  if (!load_history(session)) session.file.clear();
}

LineEditor::~LineEditor() {
  history_end(session_->history);
  el_end(session_->editor);
}

LineEditor::Got LineEditor::read(const std::string& prompt, std::string& line) {
  session_->prompt = prompt;
  session_->cancelled = false;
  int count = 0;
  el_set(session_->editor, EL_PREP_TERM, 1);  // keys typed before the prompt appears count as well
  mark_pastes(true);
  errno = 0;
  const char* text = el_gets(session_->editor, &count);
  const bool interrupted = text == nullptr && errno == EINTR;
  mark_pastes(false);
  if (session_->cancelled || interrupted) {
    session_->pasting = false;
    std::fputs("^C\n", stdout);
    std::fflush(stdout);
    return Got::cancelled;
  }
  if (text == nullptr || count <= 0) {
    std::fputc('\n', stdout);
    return Got::end;
  }
  line.assign(text, static_cast<std::size_t>(count));
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
  return Got::line;
}

void LineEditor::remember(const std::string& text) {
  if (text.find_first_not_of(" \t\n") == std::string::npos) return;
  HistEvent event;
  const bool is_new = history(session_->history, &event, H_ENTER, text.c_str()) > 0;
  if (session_->file.empty() || !is_new) return;
  std::error_code ignored;
  std::filesystem::create_directories(session_->file.parent_path(), ignored);
  if (append(session_->file, text)) return;
  log::warn(session_->file.string() + " cannot be written; the history ends with the session");
  session_->file.clear();
}

std::filesystem::path history_file() {
  if (const char* given = std::getenv("ROOFLUA_HISTORY")) return given;
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/')
    return std::filesystem::path(state) / "rooflua" / "history";
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return {};
  return std::filesystem::path(home) / ".local" / "state" / "rooflua" / "history";
}

}  // namespace rooflua::app
