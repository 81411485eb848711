#include "cost/database/prepared_questions.h"

#include <limits>
#include <utility>

namespace rooflua {
namespace {

constexpr unsigned slot_bits = 9;
constexpr double never = std::numeric_limits<double>::quiet_NaN();  // equal to nothing

/// Neighbours among whole numbers lie far apart, and a few hundred of them in as many places.
std::size_t slot(double first, double second) {
  const auto whole = [](double x) {
    return x >= 0 && x < 1e18 ? static_cast<std::uint64_t>(x) : std::uint64_t{0};
  };
  const std::uint64_t mixed =
      whole(first) * 0x9E3779B97F4A7C15ull + whole(second) * 0xC2B2AE3D27D4EB4Full;
  return mixed >> (64 - slot_bits);
}

}  // namespace

PreparedQuestions::PreparedQuestions(std::shared_ptr<const MfuDatabase> database,
                                     const std::vector<PreparedQuestion>& questions)
    : database_(std::move(database)), answers_(questions.size()) {
  for (const bool takes_first : {false, true}) {
    for (const bool takes_second : {false, true}) {
      Group group;
      group.takes_first = takes_first, group.takes_second = takes_second;
      for (std::size_t i = 0; i < questions.size(); ++i) {
        const PreparedQuestion& each = questions[i];
        if (bool(each.first) != takes_first || bool(each.second) != takes_second) continue;
        group.questions.push_back(each);
        group.places.push_back(i);
      }
      if (group.questions.empty()) continue;
      group.keys.resize(std::size_t{1} << slot_bits, Key{never, never});
      group.known.resize(group.keys.size() * group.questions.size());
      groups_.push_back(std::move(group));
    }
  }
}

const Answer* PreparedQuestions::answer(Group& group, double first, double second) const {
  if (!group.takes_first) first = 0;
  if (!group.takes_second) second = 0;
  const std::size_t place = slot(first, second);
  Key& key = group.keys[place];
  Answer* answers = &group.known[place * group.questions.size()];
  if (key.first == first && key.second == second) return answers;
  key.first = never;
  for (std::size_t i = 0; i < group.questions.size(); ++i) {
    PreparedQuestion& question = group.questions[i];
    if (question.first) question.first(question.query) = first;
    if (question.second) question.second(question.query) = second;
    database_->answer(question.query, estimate_);
    answers[i] = {estimate_.mfu, estimate_.latency_s, estimate_.evidence};
  }
  key = {first, second};
  return answers;
}

const std::vector<Answer>& PreparedQuestions::answer(double first, double second) const {
  for (Group& group : groups_) {
    const Answer* found = answer(group, first, second);
    for (std::size_t i = 0; i < group.places.size(); ++i) answers_[group.places[i]] = found[i];
  }
  return answers_;
}

QueryNumber changing_number(Op op, std::string_view name) {
  const Field* field = declaration_of(op).find(name);
  return field != nullptr && field->role == FieldRole::axis ? field->number : QueryNumber();
}

}  // namespace rooflua
