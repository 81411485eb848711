#include "measure/write/progress.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/terminal.h"
#include "measure/write/table.h"

namespace rooflua {

namespace {

constexpr double redraw_s = 0.05;
constexpr double least_passed_s = 1;  // before that, the time that is left is a guess
constexpr double longest_told_s = 3.6e6;
constexpr std::int64_t look_every = 256;  // ends between two looks at the clock
constexpr double line_every_s = 0.1;
constexpr std::int64_t look_every_for_lines = 16;

std::FILE* lines = nullptr;  // where bars are lines of JSON; null: they are drawn

double wall_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int columns() {
  const int known = terminal_columns(STDERR_FILENO);
  return known > 0 ? known : 80;
}

}  // namespace

ProgressBar::ProgressBar(std::string title, std::int64_t total, bool quiet)
    : title_(std::move(title)),
      total_(total),
      began_s_(wall_s()),
      visible_(!quiet && (lines != nullptr || isatty(STDERR_FILENO) == 1)) {}

ProgressBar::~ProgressBar() {
  clear();
}

void ProgressBar::on_done(const RequestDone&) {
  ++done_;
  if (visible_ && done_ % (lines != nullptr ? look_every_for_lines : look_every) == 0) draw("");
}

void ProgressBar::begin(std::int64_t done) {
  done_ = begun_ = done;
  began_s_ = wall_s();
}

void ProgressBar::show(std::int64_t done, const std::string& note) {
  done_ = done;
  if (visible_) draw(note);
}

void ProgressBar::draw(const std::string& note) {
  const double now_s = wall_s();
  if (drawn_at_s_ >= 0 && now_s - drawn_at_s_ < (lines != nullptr ? line_every_s : redraw_s))
    return;
  drawn_at_s_ = now_s;
  if (lines != nullptr) return write_line();
  const std::string left = time_left(now_s - began_s_, done_ - begun_, total_ - begun_);
  const std::string tail = note.empty() || left.empty() ? note + left : note + ", " + left;
  std::fprintf(stderr, "\r%s\x1b[K", bar(title_, done_, total_, tail, columns() - 1).c_str());
  std::fflush(stderr);
}

void ProgressBar::write_line() const {
  Json line = Json::object();
  line["title"] = title_;
  line["done"] = done_;
  line["of"] = total_;
  std::fprintf(lines, "%s\n", dump_json(line).c_str());
  std::fflush(lines);
}

void ProgressBar::write_to(const std::string& path) {
  lines = std::fopen(path.c_str(), "w");
  if (lines == nullptr) throw Error(path, std::string("cannot be written: ") + std::strerror(errno));
}

void ProgressBar::clear() {
  if (drawn_at_s_ < 0 || lines != nullptr) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  drawn_at_s_ = -1;
}

std::string ProgressBar::time_left(double passed_s, std::int64_t done, std::int64_t total) {
  if (done <= 0 || done >= total || passed_s < least_passed_s) return "";
  const double left_s =
      passed_s * static_cast<double>(total - done) / static_cast<double>(done) + 0.5;
  const auto seconds = static_cast<std::int64_t>(std::min(left_s, longest_told_s));
  char text[32];
  if (seconds < 60) {
    std::snprintf(text, sizeof text, "%d s left", static_cast<int>(seconds));
  } else if (seconds < 3600) {
    std::snprintf(text, sizeof text, "%d:%02d min left", static_cast<int>(seconds / 60),
                  static_cast<int>(seconds % 60));
  } else {
    std::snprintf(text, sizeof text, "%d:%02d h left", static_cast<int>(seconds / 3600),
                  static_cast<int>(seconds / 60 % 60));
  }
  return text;
}

std::string ProgressBar::bar(const std::string& title, std::int64_t done, std::int64_t total,
                             const std::string& note, int columns) {
  std::string tail = grouped(done);
  const double share =
      total > 0 ? std::min(1.0, static_cast<double>(done) / static_cast<double>(total)) : 0;
  if (total > 0)
    tail = padded(std::to_string(static_cast<int>(share * 100)), 3) + " %  " + tail + " of " +
           grouped(total);
  if (!note.empty()) tail += "  " + note;
  std::string line = title + "  ";
  const int room = std::min(40, columns - static_cast<int>(line.size() + tail.size()) - 4);
  if (total > 0 && room >= 5) {
    const int filled = static_cast<int>(share * room);
    line.append("[").append(static_cast<std::size_t>(filled), '=');
    line.append(static_cast<std::size_t>(room - filled), ' ').append("]  ");
  }
  line += tail;
  return line.substr(0, static_cast<std::size_t>(std::max(columns, 0)));
}

}  // namespace rooflua
