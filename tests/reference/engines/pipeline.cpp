#include "tests/reference/engines/pipeline.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <sstream>
#include <stdexcept>

namespace rooflua::reference {

namespace {

/// Far more than any question needs: requests that preempt each other for ever get here.
constexpr std::size_t most_steps = 200000;

void land(const StepLog& step, const std::vector<PlainRequest>& requests, History& history) {
  for (const Row& row : step.rows) {
    if (!row.samples) continue;
    Served& served = history.requests[static_cast<std::size_t>(row.id)];
    if (row.landed == 0 || served.tokens == requests[static_cast<std::size_t>(row.id)].output) {
      ++history.discarded;
      continue;
    }
    if (served.tokens == 0) served.first = step.end;
    served.tokens += row.landed;
    served.last = step.end;
    served.drafted += row.drafts;
    served.accepted += row.accepted;
  }
}

void note_scheduled(const StepLog& step, History& history) {
  for (const Row& row : step.rows) {
    Served& served = history.requests[static_cast<std::size_t>(row.id)];
    if (served.scheduled == unset) served.scheduled = step.planned;
  }
}

}  // namespace

History run(Engine& engine, const std::vector<PlainRequest>& requests, int depth,
            const Price& price) {
  History history;
  for (const PlainRequest& request : requests)
    history.requests.push_back({.arrival = request.arrival});

  std::deque<StepLog> planned;  // the front is running, if any is
  std::size_t next = 0;
  bool running = false;
  while (running || next < requests.size()) {
    const bool ends =
        running && (next == requests.size() || planned.front().end <= requests[next].arrival);
    const Ps now = ends ? planned.front().end : requests[next].arrival;
    if (ends) {
      land(planned.front(), requests, history);
      engine.update(planned.front().rows);
      history.steps.push_back(std::move(planned.front()));
      if (history.steps.size() > most_steps) throw std::runtime_error("no end in sight");
      planned.pop_front();
      running = false;
    }
    for (; next < requests.size() && requests[next].arrival == now; ++next)
      engine.arrive(static_cast<int>(next));
    if (running) continue;  // while a step runs, arrivals only queue

    const auto start_front = [&] {
      StepLog& step = planned.front();
      step.start = now;
      step.end = now + std::max<Ps>(1, price(step.rows));
      running = true;
    };
    if (!planned.empty()) start_front();
    while (planned.size() < static_cast<std::size_t>(depth)) {
      StepLog step{now, 0, 0, engine.schedule(now)};
      if (step.rows.empty() && engine.took_away() && planned.empty()) continue;
      if (step.rows.empty()) break;
      note_scheduled(step, history);
      planned.push_back(std::move(step));
      if (!running) start_front();
    }
  }
  engine.report(history);
  return history;
}

/// Every request that no plan has seen gets its plan, by its place among those of its instant.
void Coming::deal_out(int batches) {
  std::vector<Sent*> of_instant;
  for (Sent& first : sent_) {
    if (first.plans >= 0) continue;
    of_instant.clear();
    for (Sent& each : sent_)
      if (each.plans < 0 && each.at == first.at) of_instant.push_back(&each);
    const int count = static_cast<int>(of_instant.size());
    const int each_plan = count / batches + (count % batches > 0);
    for (int place = 0; place < count; ++place)
      of_instant[static_cast<std::size_t>(place)]->plans = place / each_plan;
  }
}

std::vector<int> Coming::enter(int batches) {
  deal_out(batches);
  std::vector<int> now;
  std::vector<Sent> later;
  for (Sent each : sent_) {
    if (each.plans == 0) {
      now.push_back(each.id);
    } else {
      each.plans -= 1;
      later.push_back(each);
    }
  }
  sent_ = later;
  return now;
}

bool Coming::remove(int id) {
  return std::erase_if(sent_, [id](const Sent& each) { return each.id == id; }) > 0;
}

void send_through(StepLog& step, const Stages& stages, Ps duration, std::vector<Ps>& left) {
  left.resize(stages.shares.size(), 0);
  int tokens = 0;
  for (const Row& row : step.rows) tokens += row.tokens;
  Ps at = step.planned, done = 0;
  double until = 0;
  for (std::size_t s = 0; s < stages.shares.size(); ++s) {
    const bool last = s + 1 == stages.shares.size();
    if (s > 0) at += stages.latency[s - 1] + tokens * stages.per_token[s - 1];
    at = std::max(at, left[s]);
    if (s == 0) step.start = at;
    until = last ? 1 : until + stages.shares[s];
    const Ps done_until = std::llround(static_cast<double>(duration) * until);
    at += std::max<Ps>(1, done_until - done);
    done = done_until;
    left[s] = at;
  }
  step.end = at;
}

History run_stages(Engine& engine, const std::vector<PlainRequest>& requests, const Stages& stages,
                   const Price& price) {
  History history;
  for (const PlainRequest& request : requests)
    history.requests.push_back({.arrival = request.arrival});
  std::deque<StepLog> under_way;
  std::vector<Ps> left;
  Coming coming;
  const auto next_plan = [&](Ps now) {
    while (true) {
      for (const int id : coming.enter(stages.batches)) engine.arrive(id);
      history.dealt_over_plans += !coming.empty();
      Rows rows = engine.schedule(now);
      while (rows.empty() && engine.took_away() && under_way.empty()) rows = engine.schedule(now);
      if (!rows.empty() || !under_way.empty() || coming.empty()) return rows;
    }
  };
  const auto fill = [&](Ps now) {
    while (static_cast<int>(under_way.size()) < stages.batches) {
      StepLog step{now, 0, 0, next_plan(now)};
      if (step.rows.empty()) break;
      note_scheduled(step, history);
      send_through(step, stages, std::max<Ps>(1, price(step.rows)), left);
      under_way.push_back(std::move(step));
      history.most_under_way = std::max(history.most_under_way, static_cast<int>(under_way.size()));
    }
  };
  std::size_t next = 0;
  while (!under_way.empty() || next < requests.size()) {
    const bool ends = !under_way.empty() &&
                      (next == requests.size() || under_way.front().end <= requests[next].arrival);
    const Ps now = ends ? under_way.front().end : requests[next].arrival;
    if (ends) {
      land(under_way.front(), requests, history);
      engine.update(under_way.front().rows);
      history.steps.push_back(std::move(under_way.front()));
      if (history.steps.size() > most_steps) throw std::runtime_error("no end in sight");
      under_way.pop_front();
      fill(now);
    }
    for (; next < requests.size() && requests[next].arrival == now; ++next)
      coming.send(static_cast<int>(next), now);
    if (under_way.empty()) fill(now);  // else they wait for the oldest step
  }
  engine.report(history);
  return history;
}

std::string text(const Served& served) {
  std::ostringstream out;
  out << "arrival " << served.arrival << " scheduled " << served.scheduled << " first "
      << served.first << " last " << served.last << " tokens " << served.tokens << " preemptions "
      << served.preemptions << " cached " << served.cached << " replica " << served.replica
      << " prefill replica " << served.prefill_replica << " pulled " << served.pulled
      << " accepted " << served.accepted << " of " << served.drafted << " aborted "
      << served.aborted << " held " << served.held;
  return out.str();
}

std::string text(const StepLog& step) {
  std::ostringstream out;
  out << "replica " << step.replica << " planned " << step.planned << " [" << step.start << ", "
      << step.end << ")";
  for (const Row& row : step.rows)
    out << " " << row.id << (row.prefill ? ":p" : ":d") << row.context << "+" << row.tokens
        << (row.samples ? "!" : "") << (row.drafts > 0 ? "~" + std::to_string(row.accepted) : "");
  return out.str();
}

}  // namespace rooflua::reference
