// The counters of a run (counter.h).

#include <algorithm>

#include "measure/parts/counter.h"
#include "measure/parts/part.h"
#include "measure/record/summary.h"

namespace rooflua {

Picoseconds RunSpan::duration() const {
  return last_completion > first_arrival ? last_completion - first_arrival : 0;
}

Picoseconds RunSpan::seen() const {
  const Picoseconds last = std::max(last_completion, last_step_end);
  return last > first_arrival ? last - first_arrival : 0;
}

namespace {

/// Tells a counter of one step after the other.
class OneByOne : public Observer {
 public:
  explicit OneByOne(PartCounter& counter) : counter_(counter) {}
  void on_step(const StepDone& step) override { counter_.on_step(step); }

 private:
  PartCounter& counter_;
};

}  // namespace

void PartCounter::on_steps(const StepsDone& done) {
  OneByOne(*this).on_steps(done);
}

PartCounters::PartCounters(const SummaryOptions& options) {
  for (const PartRow* part : parts())
    all_.push_back(part->counter(options, options.parts.find(part->name)));
  listen();
}

PartCounters::PartCounters(const PartCounters& other) {
  for (const auto& each : other.all_) all_.push_back(each ? each->copy() : nullptr);
  listen();
}

void PartCounters::listen() {
  for (std::size_t i = 0; i < hearing_.size(); ++i) {
    for (const auto& each : all_) {
      if (each && each->hears(static_cast<PartEvent>(i))) hearing_[i].push_back(each.get());
    }
  }
}

void PartCounters::forget_steps() {
  for (const auto& each : all_) {
    if (each) each->forget_steps();
  }
}

void PartCounters::sum_up(Summary& out, const RunSpan& span) const {
  std::vector<PartFigures> found;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (!all_[i]) continue;
    for (std::any& each : all_[i]->figures(out, span))
      found.push_back({parts()[i], std::move(each)});
  }
  out.parts = std::move(found);
}

void PartCounters::complete(Summary& out, const Simulation* run) const {
  for (const auto& each : all_) {
    if (each) each->complete(out, run);
  }
}

std::string_view PartCounters::undivided() const {
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (all_[i] && !all_[i]->may_divide()) return parts()[i]->name;
  }
  return "";
}

}  // namespace rooflua
