#include "cost/quality/leave_out.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "cost/database/mfu_database.h"
#include "cost/lookup/near_rows.h"
#include "cost/quality/questions.h"

namespace rooflua {
namespace {

using Key = std::pair<std::array<double, max_axes>, Dtype>;

Key point_of(const KernelRow& row) {
  return {row.shape, row.kv_dtype};
}

/// What the rows of one shape share.
Key shape_key(const KernelTable& table, const KernelRow& row) {
  Key key = point_of(row);
  for_each_axis(declaration_of(table.op), [&](const Field& field, std::size_t place) {
    if (field.role == FieldRole::axis) key.first[place] = 0;
  });
  return key;
}

Key key_of(const KernelTable& table, int row, Leave leave) {
  const KernelRow& asked = table.rows[static_cast<std::size_t>(row)];
  Key key = leave == Leave::row ? point_of(asked) : shape_key(table, asked);
  if (table.op == Op::grouped_gemm) key.first[7] = 0;  // whatever kernel and distribution
  return key;
}

std::vector<Key> keys_of(const KernelTable& table, Leave leave) {
  std::vector<Key> keys;
  keys.reserve(table.rows.size());
  for (int row = 0; row < static_cast<int>(table.rows.size()); ++row)
    keys.push_back(key_of(table, row, leave));
  return keys;
}

/// The table with no row.
KernelTable frame_of(const KernelTable& table) {
  KernelTable frame = table;
  frame.answers = true;  // the question is what the rows say of each other
  // Alone, the variant of a kernel must answer too. Variants that say how rows are read are kept.
  if (table.variant != "single" && table.op != Op::all_reduce) frame.variant.clear();
  frame.rows.clear();
  frame.parts.clear();
  frame.rows.shrink_to_fit();
  frame.parts.shrink_to_fit();
  return frame;
}

/// The table without the rows that share a key with those that a question is about.
/// @param frame  of the table
KernelTable without(const KernelTable& table, const KernelTable& frame, const Question& question,
                    const std::vector<Key>& keys) {
  KernelTable rest = frame;
  rest.rows.reserve(table.rows.size());
  const std::size_t width = table.part_names.size();
  const Key& gone = keys[static_cast<std::size_t>(question.row)];
  const Key& other = question.also < 0 ? gone : keys[static_cast<std::size_t>(question.also)];
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (keys[i] == gone || keys[i] == other) continue;
    rest.rows.push_back(table.rows[i]);
    for (std::size_t part = 0; part < width; ++part) rest.parts.push_back(table.part(i, part));
  }
  return rest;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

DatabaseOptions options_of(const std::string& lookup, const std::optional<Hardware>& hardware,
                           const Lenders& lenders) {
  DatabaseOptions options;
  options.hardware = hardware;
  if (options.hardware) options.hardware->tables_from.clear();
  options.lookup = lookup;
  options.lenders = lenders;
  options.layout = Layout::infersim;
  options.gpu = hardware ? hardware->name : "";
  options.default_mfu = 0.5;  // a policy without a row still answers
  return options;
}

}  // namespace

std::vector<LeftOut> leave_out(const KernelTable& table, const std::string& lookup,
                               const std::optional<Hardware>& hardware, Leave leave, int most_rows,
                               const Lenders& lenders, const std::function<UserLookup()>& own) {
  DatabaseOptions options = options_of(lookup, hardware, lenders);
  if (own) options.lookup = DatabaseOptions().lookup;  // of the database that `own` answers for
  MfuDatabase::from_tables({}, options);               // throws where there is no such lookup
  std::vector<LeftOut> result;
  std::map<Key, int> times;
  for (const KernelRow& row : table.rows) ++times[point_of(row)];
  const std::vector<Question> questions = questions_of(table);
  const std::size_t most = static_cast<std::size_t>(std::max(1, most_rows));
  const std::size_t stride = std::max<std::size_t>(1, (questions.size() + most - 1) / most);
  // Questions that leave out the same rows share a database. One is kept at a time: each is a copy
  // of the table.
  const std::vector<Key> keys = keys_of(table, leave);
  const KernelTable frame = frame_of(table);
  std::vector<std::vector<std::size_t>> groups;
  std::map<Key, std::size_t> group_of;
  for (std::size_t i = 0; i < questions.size(); i += stride) {
    const int row = questions[i].row;
    if (times[point_of(table.rows[static_cast<std::size_t>(row)])] > 1) continue;
    const std::size_t next = groups.size();
    const std::size_t at =
        leave == Leave::row
            ? next
            : group_of.try_emplace(keys[static_cast<std::size_t>(row)], next).first->second;
    if (at == next) groups.emplace_back();
    groups[at].push_back(i);
  }
  std::map<std::size_t, LeftOut> answers;  // by question, so that their order is the table's
  for (const std::vector<std::size_t>& group : groups) {
    std::vector<KernelTable> rest;
    rest.push_back(without(table, frame, questions[group.front()], keys));
    if (rest.front().rows.empty()) continue;
    auto database = MfuDatabase::from_tables(std::move(rest), options);
    const KernelTable& left = *database->tables().front();
    std::optional<NearRows> near;  // a lookup of another author does not tell how far its rows are
    if (own) {
      database = database->with_lookup(lookup, own());
      near.emplace(left);
    }
    for (const std::size_t i : group) {
      const Question& question = questions[i];
      if (!database->prices(question.query)) continue;
      Estimate estimate = database->estimate(question.query);
      if (near) {
        const auto nearest = near->near(question.query, 1);
        estimate.distance = nearest.empty() ? 0 : nearest.front().distance;
      }
      answers[i] = {question.row, question.measured_s, estimate.latency_s, estimate.distance,
                    estimate.evidence};
    }
  }
  for (const auto& [question, found] : answers) {
    if (std::isfinite(found.error())) result.push_back(found);
  }
  return result;
}

LeaveOneOut summary(const KernelTable& table, const std::vector<LeftOut>& rows) {
  std::vector<double> errors, inside;
  for (const LeftOut& row : rows) {
    errors.push_back(std::abs(row.error()));
    if (row.evidence <= Evidence::interpolated) inside.push_back(errors.back());
  }
  LeaveOneOut result;
  result.table = table.name;
  result.rows = static_cast<int>(errors.size());
  result.rows_inside = static_cast<int>(inside.size());
  result.mape = mean(errors);
  result.mape_inside = mean(inside);
  std::sort(errors.begin(), errors.end());
  if (!errors.empty()) result.median = errors[errors.size() / 2];
  return result;
}

}  // namespace rooflua
