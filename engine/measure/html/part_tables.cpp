// Tables of a page: parts of a run that not every run has, and its groups of requests.

#include "measure/html/choice.h"
#include "measure/html/parts.h"
#include "measure/write/group_tables.h"
#include "measure/write/survivors.h"

namespace rooflua::html {

namespace {

/// What a part of the run amounted to, of variants that have it.
void add_part(HtmlPage& page, const std::vector<Served>& variants, const PartRow& part) {
  std::vector<std::vector<std::string>> rows{labels_of(part)};
  for (const Served& each : variants) {
    for (const PartFigures& one : each.summary.parts) {
      if (one.part != &part) continue;
      rows.push_back(cells_of(one));
      rows.back().insert(rows.back().begin(), name_of(each));
    }
  }
  if (rows.size() == 1) return;
  rows[0].insert(rows[0].begin(), "variant");
  if (!part.heading.empty()) page.heading(std::string(part.heading));
  page.table(rows);
  if (!part.note.empty()) page.note(std::string(part.note));
}

void add_parts_at(HtmlPage& page, const std::vector<Served>& variants, PartPosition::Spot spot) {
  for (const PartRow* part : parts_at(&PartRow::on_page, spot)) add_part(page, variants, *part);
}

void add_groups(HtmlPage& page, const std::vector<NamedSummary>& runs,
                std::vector<GroupSummary> Summary::*groups, const char* title) {
  const auto rows = rows_of_groups(runs, groups, title);
  if (rows.empty()) return;
  const bool many = rows.size() > most_listed;
  if (many) page.open_details(std::to_string(rows.size() - 1) + " rows by " + title);
  page.table(rows);
  if (many) page.close_details();
}

}  // namespace

std::string name_of(const Served& variant) {
  return variant.name.empty() ? "run" : variant.name;
}

void add_parts(HtmlPage& page, const std::vector<Served>& variants) {
  add_parts_at(page, variants, PartPosition::before_groups);
  std::vector<std::string> names;
  for (const Served& each : variants) names.push_back(name_of(each));
  std::vector<NamedSummary> runs;
  for (std::size_t i = 0; i < variants.size(); ++i)
    runs.push_back({names[i], &variants[i].summary});
  if (const std::string survivors = survivors_text(runs); !survivors.empty())
    page.note(survivors.substr(0, survivors.size() - 1) + ".");
  add_groups(page, runs, &Summary::classes, "class");
  add_groups(page, runs, &Summary::tenants, "tenant");
  add_parts_at(page, variants, PartPosition::among_parts);
}

}  // namespace rooflua::html
