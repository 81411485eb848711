#pragma once
// Counting for parts of a run (part.h) while it goes.

#include <any>
#include <array>
#include <memory>
#include <type_traits>
#include <vector>

#include "serve/contract/observer.h"

namespace rooflua {

struct Summary;
struct SummaryOptions;
class Simulation;

/// 0 where there is nothing to divide by.
template <class Part, class Whole>
double quotient(Part part, Whole whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

/// The times of a run that figures are related to.
struct RunSpan {
  Picoseconds first_arrival = never, last_completion = 0, last_step_end = 0;
  /// First arrival to last completion.
  Picoseconds duration() const;
  /// First arrival to the end of the last step, if that is later: a run that was stopped is busy
  /// after its last completion.
  Picoseconds seen() const;
};

enum class PartEvent {
  arrival,
  step,
  transfer,
  failed_transfer,
  replica,
  link,
  scale,
  end,
  row,
  play,
  count
};

/// Counts for a part. It is told of what it overrides, and of nothing else; of warm requests it is
/// told nothing. Derive from CounterOf.
class PartCounter {
 public:
  virtual ~PartCounter() = default;
  virtual void on_arrival(const Request& request) { (void)request; }
  virtual void on_step(const StepDone& step) { (void)step; }
  /// Several steps at once. A counter that does not override it gets on_step() for each.
  virtual void on_steps(const StepsDone& done);
  virtual void on_transfer(const TransferSeen& transfer) { (void)transfer; }
  virtual void on_failed_transfer(const TransferSeen& transfer) { (void)transfer; }
  virtual void on_replica(const ReplicaChanged& change) { (void)change; }
  virtual void on_link(const LinkChanged& change) { (void)change; }
  virtual void on_scale(const ScaleAsked& asked) { (void)asked; }
  /// @param is_good  it completed and holds every limit of the SLO
  virtual void on_end(const RequestDone& done, bool is_good) { (void)done, (void)is_good; }
  virtual void on_row(const RowSent& row) { (void)row; }
  virtual void on_play(const PlayDone& play) { (void)play; }
  /// A warm-up is over: the steps so far do not count.
  virtual void forget_steps() {}

  /// What the part amounted to: figures that its metrics read, one for each instance, or nothing.
  /// @param of  all but the parts
  virtual std::vector<std::any> figures(const Summary& of, const RunSpan& span) const = 0;
  /// Completes a summary that has them: with what the part says of groups of requests, and with
  /// what the simulation knows of the part. Null: there is no simulation.
  virtual void complete(Summary& of, const Simulation* run) const { (void)of, (void)run; }
  /// Whether it counts nothing in a run that several processes divide (serve/loop/sharing.h). The
  /// others keep their runs in one process.
  virtual bool may_divide() const { return false; }

  virtual bool hears(PartEvent event) const = 0;
  virtual std::unique_ptr<PartCounter> copy() const = 0;
};

/// What counters have in common that depends on their class.
template <class Own>
class CounterOf : public PartCounter {
 public:
  std::unique_ptr<PartCounter> copy() const final {
    return std::make_unique<Own>(static_cast<const Own&>(*this));
  }
  bool hears(PartEvent event) const final;

 private:
  template <auto function, auto inherited>
  static constexpr bool own = !std::is_same_v<decltype(function), decltype(inherited)>;
};

/// The counters of a run. A copy has its own.
class PartCounters {
 public:
  PartCounters() = default;
  explicit PartCounters(const SummaryOptions& options);
  PartCounters(const PartCounters& other);
  PartCounters& operator=(const PartCounters& other) = delete;

  /// Those that hear of an event.
  const std::vector<PartCounter*>& of(PartEvent event) const {
    return hearing_[static_cast<std::size_t>(event)];
  }
  void forget_steps();
  /// Adds the figures of all parts to a summary without any.
  void sum_up(Summary& out, const RunSpan& span) const;
  void complete(Summary& out, const Simulation* run) const;
  /// The key in documents of a part that keeps the run in one process; "": there is none.
  std::string_view undivided() const;

 private:
  void listen();

  std::vector<std::unique_ptr<PartCounter>> all_;  // by row of parts(); null: the run has none
  std::array<std::vector<PartCounter*>, static_cast<std::size_t>(PartEvent::count)> hearing_;
};

template <class Own>
bool CounterOf<Own>::hears(PartEvent event) const {
  using P = PartCounter;
  constexpr bool steps = own<&Own::on_step, &P::on_step>;
  static_assert(!steps || own<&Own::forget_steps, &P::forget_steps>, "a warm-up counts for it");
  switch (event) {
    case PartEvent::arrival:
      return own<&Own::on_arrival, &P::on_arrival>;
    case PartEvent::step:
      return steps;
    case PartEvent::transfer:
      return own<&Own::on_transfer, &P::on_transfer>;
    case PartEvent::failed_transfer:
      return own<&Own::on_failed_transfer, &P::on_failed_transfer>;
    case PartEvent::replica:
      return own<&Own::on_replica, &P::on_replica>;
    case PartEvent::link:
      return own<&Own::on_link, &P::on_link>;
    case PartEvent::scale:
      return own<&Own::on_scale, &P::on_scale>;
    case PartEvent::end:
      return own<&Own::on_end, &P::on_end>;
    case PartEvent::row:
      return own<&Own::on_row, &P::on_row>;
    case PartEvent::play:
      return own<&Own::on_play, &P::on_play>;
    case PartEvent::count:
      break;
  }
  return false;
}

}  // namespace rooflua
