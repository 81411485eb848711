#include "measure/write/parts_text.h"

#include "measure/write/table.h"

namespace rooflua {

namespace {

std::string part_text(const Summary& summary, const PartRow& part, const std::string& before) {
  std::string out;
  Table table;
  table.add(labels_of(part));
  bool any = false;
  for (const PartFigures& each : summary.parts) {
    if (each.part != &part) continue;
    any = true;
    if (part.text != nullptr) out += before + part.text(each.figures);
    if (part.text == nullptr) table.add(cells_of(each));
  }
  return any && part.text == nullptr ? before + table.text() : out;
}

}  // namespace

std::string parts_text(const Summary& summary, PartPosition::Spot spot) {
  std::string out;
  for (const PartRow* part : parts_at(&PartRow::in_report, spot))
    out += part_text(summary, *part, spot == PartPosition::among_parts ? "\n" : "");
  return out;
}

}  // namespace rooflua
