#include "cost/quality/questions.h"

#include <map>

#include "cost/lookup/experts.h"

namespace rooflua {
namespace {

using Shape = std::array<double, max_axes>;
constexpr std::size_t hidden = 4, width = 5, label = 7;  // of the experts' axes; k and n of a GEMM

/// Two GEMMs of an expert: gate and up together, then down.
std::vector<Question> pairs_of(const KernelTable& table, bool has_usual) {
  std::map<Shape, int> rows;
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    rows.try_emplace(table.rows[i].shape, static_cast<int>(i));
  std::vector<Question> questions;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const KernelRow& up = table.rows[i];
    if (!(up.latency_s > 0) || !is_usual_distribution(table, up, has_usual)) continue;
    Shape other = up.shape;
    other[hidden] = up.shape[width] / 2;
    other[width] = up.shape[hidden];
    const auto found = rows.find(other);
    if (found == rows.end()) continue;
    const KernelRow& down = table.rows[static_cast<std::size_t>(found->second)];
    if (!(down.latency_s > 0)) continue;
    Question question{query_of(table, up), up.latency_s + down.latency_s, static_cast<int>(i),
                      found->second};
    question.query.intermediate_size /= 2;
    questions.push_back(question);
  }
  return questions;
}

}  // namespace

std::vector<Question> questions_of(const KernelTable& table) {
  const bool experts = table.op == Op::grouped_gemm;
  const bool has_usual = experts && has_usual_distribution(table);
  if (experts && table.variant == "single") return pairs_of(table, has_usual);
  std::vector<Question> questions;
  std::map<Shape, std::size_t> asked;  // of experts: several kernels may have been timed
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const KernelRow& row = table.rows[i];
    if (!(row.latency_s > 0)) continue;
    const Question question{query_of(table, row), row.latency_s, static_cast<int>(i)};
    if (!experts) {
      questions.push_back(question);
      continue;
    }
    if (!is_usual_distribution(table, row, has_usual)) continue;
    Shape shape = row.shape;
    shape[label] = 0;
    const auto [place, fresh] = asked.try_emplace(shape, questions.size());
    if (fresh) {
      questions.push_back(question);
    } else if (row.latency_s < questions[place->second].measured_s) {
      questions[place->second] = question;
    }
  }
  return questions;
}

}  // namespace rooflua
