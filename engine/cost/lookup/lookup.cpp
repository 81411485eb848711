#include "cost/lookup/lookup.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/numbers/digits.h"

namespace rooflua {

TableStore::TableStore(std::vector<TableFile> files)
    : files_(std::move(files)), tables_(files_.size()) {}

TableStore::TableStore(std::vector<KernelTable> tables) {
  for (KernelTable& table : tables) {
    TableFile& file = files_.emplace_back();
    file.name = table.name;
    file.op = table.op;
    file.dtype = table.dtype;
    file.variant = table.variant;
    file.engine = table.engine;
    file.engines = table.engines;
    file.includes = table.includes;
    file.answers = table.answers;
    file.tp = table.tp;
    file.decode = table.decode;
    tables_.push_back(std::make_shared<const KernelTable>(std::move(table)));
  }
}

const std::shared_ptr<const KernelTable>& TableStore::shared_table(std::size_t index) const {
  auto& table = tables_[index];
  if (!table) table = kept_table(files_[index]);
  return table;
}

std::vector<const KernelTable*> TableStore::tables_of(Op op) const {
  std::vector<const KernelTable*> result;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (files_[i].op == op && files_[i].answers) result.push_back(&table(i));
  }
  return result;
}

const KernelTable* TableStore::named(std::string_view name) const {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (files_[i].name == name) return &table(i);
  }
  return nullptr;
}

bool TableStore::has(Op op) const {
  return std::any_of(files_.begin(), files_.end(),
                     [op](const TableFile& f) { return f.op == op && f.answers; });
}

int TableStore::loaded() const {
  return static_cast<int>(std::count_if(tables_.begin(), tables_.end(),
                                        [](const auto& table) { return table != nullptr; }));
}

std::string words(const RowsUsed& trace) {
  std::string text = trace.remark;
  std::size_t shown = 0;
  for (const RowsUsed::Used& used : trace.used) {
    if (++shown > 8) return text + "; ...";
    const KernelRow& row = used.table->rows[static_cast<std::size_t>(used.row)];
    text += text.empty() ? "" : "; ";
    text += used.table->name + ":" + std::to_string(row.line) + " (";
    for (std::size_t axis = 0; axis < used.table->axes.size(); ++axis) {
      char number[40];
      std::snprintf(number, sizeof number, "%s%.15g", axis == 0 ? "" : ", ", row.shape[axis]);
      text += number;
    }
    text += ") " + significant(row.latency_s * 1e6, 4) + " us";
  }
  return text;
}

double LookupContext::peak_flop_per_s(Dtype dtype) const {
  if (hardware) {
    if (const auto stated = hardware->stated_peak(dtype)) return stated->in_base_units();
  }
  for (std::size_t i = 0; i < store->files().size(); ++i) {
    const TableFile& file = store->files()[i];
    const bool printed = file.path.empty() || prints_mfu(file.form);
    const bool has_mfu = declaration_of(file.op).convention != FlopConvention::none;
    if (file.dtype != dtype || !has_mfu || !printed) continue;
    const double peak = implied_peak(store->table(i)).median.in_base_units();
    if (peak > 0) return peak;
  }
  return 0;
}

double round3(double value) {
  char text[400];
  std::snprintf(text, sizeof text, "%.3f", value);
  return std::strtod(text, nullptr);
}

}  // namespace rooflua
