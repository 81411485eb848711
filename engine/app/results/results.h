#pragma once
// `rooflua results`: what files of results hold, joined, shown and written in other formats.

#include <filesystem>
#include <string>
#include <vector>

namespace rooflua::app {

struct ResultsArguments {
  std::string file;                 // of `list`, `show`, `export`; a folder or lines as well
  std::string second;               // of `diff`
  std::vector<std::string> others;  // of `merge`: what is added to `file`
  bool strict = false;              // of `merge`
  int missing = 0;         // of `list`: shards, of which those with missing runs are printed
  std::string set, build;  // "" = all
  std::string run;         // of `show`: the name of a variant, or the beginning of a hash
  std::string format;      // of `export`
  std::vector<std::string> select;  // of `export`, `diff`: metrics
  std::string to;                   // of `export`: a file, or "-" for stdout
  std::string json;                 // of `list`: a file, or "-" for stdout
};

int results_merge(const ResultsArguments& arguments);
int results_list(const ResultsArguments& arguments);
int results_show(const ResultsArguments& arguments);
int results_export(const ResultsArguments& arguments);
int results_diff(const ResultsArguments& arguments, const std::filesystem::path& home);

}  // namespace rooflua::app
