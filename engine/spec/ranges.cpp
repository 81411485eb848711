#include "spec/ranges.h"

#include <algorithm>
#include <vector>

#include "spec/figures/model.h"

namespace rooflua {

namespace {

std::vector<FigureRange> all_ranges() {
  std::vector<FigureRange> out;
  std::vector<ListedFigure> listed = list_figures(figures<Model>(), "model");
  for (ListedFigure& each : list_figures(figures<ShortForm>(), "model"))
    listed.push_back(std::move(each));
  for (const ListedFigure& each : listed) {
    FigureRange range{each.key, each.row->unit, each.row->least, each.row->most};
    const bool again = std::find(out.begin(), out.end(), range) != out.end();  // of another kind
    if (!range.unit.empty() && !again) out.push_back(std::move(range));
  }
  return out;
}

}  // namespace

std::span<const FigureRange> figure_ranges() {
  static const std::vector<FigureRange> ranges = all_ranges();
  return ranges;
}

}  // namespace rooflua
