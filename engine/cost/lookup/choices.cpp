#include "cost/lookup/choices.h"

#include <algorithm>
#include <limits>

#include "base/latest.h"

namespace rooflua {
namespace {

// Only the order of these gaps matters: a shape that was measured wins from left to right.
constexpr double own_engine = 0.001, no_engine = 0.01, other_engine = 0.25, next_engine = 0.001;
constexpr double next_alike = 0.3, other_format = 1, next_format = 0.01;

struct Format {
  StandIn stand_in;
  double gap;
};

/// The formats whose tables may answer. An op whose format is that of the KV cache has rows of 16
/// bits for every other one.
std::vector<Format> formats_for(const OpDeclaration& op, Dtype wanted) {
  std::vector<Format> formats;
  const auto add = [&](const StandIn& each) {
    const bool first = formats.empty();
    const double rank = static_cast<double>(formats.size());
    formats.push_back({each, first && each.alike ? 0
                             : each.alike        ? next_alike
                                                 : other_format + rank * next_format});
  };
  if (op.format_of_kv) {
    add({wanted, true});
    if (wanted != Dtype::bf16) add({Dtype::bf16, false});
    return formats;
  }
  const auto listed = format_of(wanted).stand_ins;
  const bool has_own = std::any_of(listed.begin(), listed.end(),
                                   [&](const StandIn& each) { return each.dtype == wanted; });
  if (op.index == nullptr && !has_own) add({wanted, true});
  for (const StandIn& each : listed) add(each);
  return formats;
}

double engine_gap(const TableFile& file, const Kernels& kernels, const OpDeclaration& op) {
  if (file.engine.empty()) return 0;
  const bool shared =
      std::find(file.engines.begin(), file.engines.end(), kernels.engine) != file.engines.end();
  if (file.engine == kernels.engine || shared) return own_engine;
  const auto lender = find_lender(kernels.lenders, file.engine);
  if (lender == kernels.lenders.end()) return no_engine;
  const bool alike = share_libraries(kernels.lenders, file.engine, kernels.engine);
  const auto place = static_cast<double>(lender - kernels.lenders.begin());
  return (alike ? other_engine : op.own_kernels_gap) + place * next_engine;
}

void add_file(std::vector<Choice>& choices, const TableFile& file, std::size_t place,
              const Format& format, const Kernels& kernels, const TableStore& store) {
  const double of_engine = engine_gap(file, kernels, declaration_of(file.op));
  const double gap = format.gap + of_engine;
  for (Choice& choice : choices) {
    const TableFile& other = store.files()[choice.files.front()];
    if (choice.gap != gap || other.engine != file.engine) continue;
    if (choice.stands_in != file.stands_in) continue;
    choice.files.push_back(place);
    return;
  }
  Choice& added = choices.emplace_back();
  added.files = {place};
  added.format = format.stand_in;
  added.other_engine = of_engine >= other_engine;
  added.stands_in = file.stands_in;
  added.gap = gap;
}

bool may_stand_in(const Choice& choice) {
  return choice.stands_in == StandsIn::all ||
         (choice.stands_in == StandsIn::format && choice.format.alike);
}

/// An index of rows, and the tables that it refers to.
struct OwningIndex {
  std::vector<std::shared_ptr<const KernelTable>> tables;
  std::unique_ptr<RowIndex> index;
};

constexpr std::size_t most_kept_rows = 400'000;

/// The same index again for the same tables: every run of a process asks the same ones.
std::shared_ptr<const RowIndex> kept_index(std::vector<std::shared_ptr<const KernelTable>> tables) {
  thread_local Latest<std::vector<std::shared_ptr<const KernelTable>>, OwningIndex> latest(
      most_kept_rows);
  std::size_t rows = 1;
  for (const auto& table : tables) rows += table->rows.size();
  const auto owning = latest.of(tables, rows, [&] {
    std::vector<const KernelTable*> plain;
    for (const auto& table : tables) plain.push_back(table.get());
    return std::make_shared<const OwningIndex>(
        OwningIndex{tables, row_index(plain.front()->op, plain)});
  });
  return {owning, owning->index.get()};
}

const RowIndex& index_of(const TableStore& store, const Choice& choice) {
  if (!choice.index) {
    std::vector<std::shared_ptr<const KernelTable>> tables;
    for (const std::size_t file : choice.files) tables.push_back(store.shared_table(file));
    choice.index = kept_index(std::move(tables));
  }
  return *choice.index;
}

}  // namespace

std::vector<Choice> choices_of(const TableStore& store, Op op, Dtype format,
                               const Kernels& kernels) {
  const OpDeclaration& declared = declaration_of(op);
  const bool any_format = !declared.typed && !declared.format_of_kv;
  std::vector<Format> formats{{{Dtype::bf16, true}, 0}};
  if (!any_format) formats = formats_for(declared, format);
  std::vector<Choice> choices;
  for (const Format& each : formats) {
    for (std::size_t i = 0; i < store.files().size(); ++i) {
      const TableFile& file = store.files()[i];
      if (file.op != op || !file.answers) continue;
      if (!any_format && file.dtype != each.stand_in.dtype) continue;
      add_file(choices, file, i, each, kernels, store);
    }
  }
  std::stable_sort(choices.begin(), choices.end(),
                   [](const Choice& a, const Choice& b) { return a.gap < b.gap; });
  return choices;
}

const Choice* nearest_choice(const TableStore& store, const std::vector<Choice>& choices,
                             const Query& query) {
  const Choice* nearest = nullptr;
  double least = std::numeric_limits<double>::infinity();
  const double farthest = declaration_of(query.op).farthest;
  for (const Choice& choice : choices) {
    if (choice.gap >= least) break;
    const RowIndex& index = index_of(store, choice);
    if (index.empty()) continue;
    const double gap = index.gap(query);
    if (gap > farthest || choice.gap + gap >= least) continue;
    if (gap > 0 && !may_stand_in(choice)) continue;
    nearest = &choice;
    least = choice.gap + gap;
  }
  return nearest;
}

}  // namespace rooflua
