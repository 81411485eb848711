#pragma once
// What came over the wire and what left, as a trace (JSON lines) in order of arrival. Replayed by
// workloads.trace it gives the same schedule. Times in seconds of the scenario's clock.

#include <cstdint>
#include <deque>
#include <fstream>
#include <string>

#include "emulate/prompt.h"
#include "serve/contract/observer.h"

namespace rooflua::emulate {

class Recording {
 public:
  /// @throws Error if the file cannot be written
  explicit Recording(const std::string& path);

  /// A request arrives. Its number is the next one, from 0. @param arrival_us  microseconds
  void add(std::int64_t arrival_us, const RequestSpec& spec, const std::string& session,
           const Prompt& prompt);
  /// Its client leaves; nothing where it has ended, or left. @pre it was added
  void leave(std::int32_t number, std::int64_t time_us);
  void end(const RequestDone& done);
  /// Writes those that have not ended, too. @throws Error if the file could not be written
  void finish();

 private:
  struct Line {
    std::string text;                  // without its end
    bool ended = false, left = false;  // in the simulation; its client
  };
  Line& line(std::int32_t number) { return lines_[static_cast<std::size_t>(number - first_)]; }
  void write_ended();

  std::string path_;
  std::ofstream file_;
  std::deque<Line> lines_;  // from the first that has not ended on
  std::int32_t first_ = 0;  // its number
};

/// Whole microseconds as seconds, and their text, which reads back as the same double.
inline double seconds_of_us(std::int64_t us) {
  return static_cast<double>(us) / 1e6;
}
std::string text_of_us(std::int64_t us);

}  // namespace rooflua::emulate
