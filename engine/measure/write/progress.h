#pragma once
// A progress bar on stderr, for people: nothing is written unless stderr is a terminal. For programs
// the same as lines of JSON in a file.

#include <cstdint>
#include <string>

#include "serve/contract/observer.h"

namespace rooflua {

/// Redraws at most 20 times a second. Results never depend on it.
class ProgressBar : public Observer {
 public:
  /// @param total  expected number of ends; 0: not known, so only the count is shown
  ProgressBar(std::string title, std::int64_t total, bool quiet = false);
  ~ProgressBar() override;
  bool reads_prices() const override { return false; }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void on_done(const RequestDone& done) override;
  /// Work begins now, and `done` of it was there before: the time that is left counts the rest.
  void begin(std::int64_t done);
  /// For work that is not a run: `done` of `total`.
  void show(std::int64_t done, const std::string& note = "");
  /// Wipes the bar. The destructor does it too.
  void clear();

  /// From now on, bars are lines in this file, ten a second at most, and not drawn:
  /// {"title": "run", "done": 512, "of": 2000}; of: 0 where it is not known.
  /// @throws Error  it cannot be written
  static void write_to(const std::string& path);

  /// "12 s left", "3:05 min left" or "1:20 h left" if the rest goes as fast; "" in the first
  /// second.
  static std::string time_left(double passed_s, std::int64_t done, std::int64_t total);
  /// "title  [=====>    ]  51 %  1,234 of 2,400" for a line of that width
  static std::string bar(const std::string& title, std::int64_t done, std::int64_t total,
                         const std::string& note, int columns);

 private:
  void draw(const std::string& note);
  void write_line() const;

  std::string title_;
  std::int64_t total_, done_ = 0, begun_ = 0;
  double began_s_;
  double drawn_at_s_ = -1;
  bool visible_ = false;
};

}  // namespace rooflua
