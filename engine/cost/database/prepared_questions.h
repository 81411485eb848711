#pragma once
// Questions of which one or two numbers change, asked again and again and answered together: the
// GEMMs of a layer at m rows, decode attention of (batch, context). What does not change is copied
// once; questions of the same numbers are found again together, by these numbers alone.

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "cost/database/mfu_database.h"
#include "cost/price/estimate.h"

namespace rooflua {

/// The part of an Estimate that a sweep reads.
struct Answer {
  double mfu = 0;
  double latency_s = 0;
  Evidence evidence = Evidence::assumed;
};

/// A question, and where the first and the second number go; none: it does not take that one.
struct PreparedQuestion {
  Query query;
  QueryNumber first, second;
};

class PreparedQuestions {
 public:
  PreparedQuestions(std::shared_ptr<const MfuDatabase> database,
                    const std::vector<PreparedQuestion>& questions);

  std::size_t size() const { return answers_.size(); }

  /// In the order of the questions, the same as the database answers; valid until the next call.
  /// @throws what MfuDatabase::estimate does
  const std::vector<Answer>& answer(double first, double second) const;

 private:
  struct Key {
    double first, second;
  };
  /// Questions that take the same numbers.
  struct Group {
    bool takes_first = false, takes_second = false;
    std::vector<PreparedQuestion> questions;
    std::vector<std::size_t> places;  // of their answers
    std::vector<Key> keys;            // direct-mapped: a new one takes the place of an old one
    std::vector<Answer> known;        // questions.size() to each key
  };
  const Answer* answer(Group& group, double first, double second) const;

  std::shared_ptr<const MfuDatabase> database_;
  mutable std::vector<Group> groups_;
  mutable std::vector<Answer> answers_;
  mutable Estimate estimate_;
};

/// The number of that name, which may change: an axis of the op.
/// @return none for another name
QueryNumber changing_number(Op op, std::string_view name);

}  // namespace rooflua
