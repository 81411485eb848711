#pragma once
// Questions checked and told apart by what their ops declare, in the form in which that is fast.

#include <array>
#include <cstdint>
#include <vector>

#include "cost/ops/declaration.h"

namespace rooflua {

/// The fields that the op of a question has, and no others, as bits.
struct QueryKey {
  std::array<std::uint64_t, 1 + max_fields> words;  // `count` of them are set
  std::size_t count = 0;
  std::uint64_t hash = 0;  // of the words
  friend bool operator==(const QueryKey& a, const QueryKey& b) {
    if (a.count != b.count) return false;
    std::uint64_t differ = 0;
    for (std::size_t i = 0; i < a.count; ++i) differ |= a.words[i] ^ b.words[i];
    return differ == 0;
  }
};

class QuestionForms {
 public:
  QuestionForms();

  /// All numbers that the op of the question reads are finite, and large enough.
  /// @param reference  a lookup that imitates other software, which may be asked about 0
  /// @throws Error naming op and field
  void check(const Query& query, bool reference) const;
  void write_key(const Query& query, QueryKey& key) const;

 private:
  struct Least {
    QueryNumber number;
    double least;
  };
  struct Form {
    /// Without and with Query::decode, and the same two for a reference.
    std::array<std::vector<Least>, 4> checks;
    std::vector<QueryNumber> numbers;
  };
  std::vector<Form> forms_;  // by op
};

}  // namespace rooflua
