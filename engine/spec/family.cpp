#include "spec/family.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/fields.h"
#include "base/toml.h"

namespace rooflua {

namespace fs = std::filesystem;

namespace {

constexpr const char* reference_family = "hopper";
constexpr int most_lenders = 2;

fs::path file_of(const std::string& architecture, const fs::path& home) {
  return home / "bench_data" / "families" / (architecture + ".toml");
}

/// Whether an architecture can be the name of a file: a scenario may have made it up.
bool names_a_file(const std::string& architecture) {
  return std::all_of(architecture.begin(), architecture.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; });
}

/// The values that the file states, each with its source.
void read_constants(Family& family, const Fields& fields) {
  const auto values = fields.table("constants"), sources = fields.table("sources");
  if (values) {
    for (const Json::Member& member : values->object().members()) {
      set_constant(family.constants, member.key, values->need_number(member.key),
                   values->where(member.key));
      if (!sources) throw Error(fields.where("sources"), "is missing: constants need sources");
      family.sources[member.key] = sources->need_text(member.key);
    }
  }
  if (!sources) return;
  for (const Json::Member& member : sources->object().members()) {
    if (values && values->has(member.key)) continue;
    throw Error(sources->where(member.key), "is the source of a constant that is not there");
  }
}

/// What was fitted, on which rows, by what and how well: text for readers of the file.
void check_fit(const Fields& fields) {
  const auto fit = fields.table("fit");
  if (!fit) throw Error(fields.where("fit"), "is missing: say what was fitted, on what");
  for (const Json::Member& member : fit->object().members()) fit->need_text(member.key);
}

void check_complete(const Family& family, const Fields& fields) {
  for (const KernelConstant& each : kernel_constants()) {
    if (family.sources.contains(std::string(each.name))) continue;
    throw Error(fields.where("constants"),
                "has no " + std::string(each.name) + ", and constants_from names no other family");
  }
}

Family taken_over(const Family& lender, const std::string& title) {
  Family family = lender;
  family.title = title;
  family.fitted_on.clear();
  for (auto& [name, source] : family.sources) source = "taken over from " + lender.title;
  return family;
}

/// @param lenders  how many families may stand behind each other: CDNA 5 takes over what CDNA 4 has,
///                 which takes over what it did not fit
Family read_family(const fs::path& path, const fs::path& home, int lenders) {
  const Json document = read_toml(path);
  const Fields fields(document, path.string());
  const std::string title = fields.need_text("title");
  Family family;
  const auto lender = fields.text("constants_from");
  if (lender) {
    const fs::path file = file_of(*lender, home);
    if (lenders == 0 || !fs::exists(file)) {
      throw Error(fields.where("constants_from"),
                  "expected a family with constants of its own in " + path.parent_path().string() +
                      ", found '" + *lender + "'");
    }
    family = taken_over(read_family(file, home, lenders - 1), title);
  }
  family.title = title;
  family.fitted_on = joined(fields.texts("fitted_on"), ", ");
  if (!family.fitted_on.empty()) family.lender = title + " (" + family.fitted_on + ")";
  check_fit(fields);
  read_constants(family, fields);
  fields.finish();
  check_complete(family, fields);
  return family;
}

}  // namespace

Family load_family(const std::string& architecture, const fs::path& home) {
  const fs::path own = file_of(architecture, home);
  if (names_a_file(architecture) && fs::exists(own)) return read_family(own, home, most_lenders);
  const fs::path reference = file_of(reference_family, home);
  if (!fs::exists(reference)) return {};
  const bool unknown = architecture.empty() || architecture == "unknown";
  return taken_over(read_family(reference, home, 0),
                    unknown ? "a GPU of unknown architecture" : architecture);
}

std::string fit_note(const Family& family) {
  if (!family.fitted_on.empty() || family.lender.empty()) return "";
  return "modelled kernels: constants fitted on " + family.lender + ", none on " + family.title;
}

}  // namespace rooflua
