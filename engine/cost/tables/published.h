#pragma once
// The kernel tables that aiconfigurator publishes, as data: which file and columns become which op
// and columns of ours (published_maps.cpp), and which files and rows are not taken, and why
// (published_rules.cpp). docs/DATA.md states what is wrong with them.
//
// A file is named <gpu>_<table>_<engine><version>.csv[.gz], or <gpu>_<table><version> where a
// library was timed. A column that has one value in a whole file stands in constants.csv beside it
// (file, column, value).

#include <cstdint>
#include <span>
#include <string_view>

#include "spec/dtype.h"

namespace rooflua {

/// What a published column is to a row of ours.
enum class PublishedUse : std::uint8_t {
  number,    // value * scale, added to a field
  word,      // a word of ours: `words` translates it
  code,      // a number of ours: the number that `words` gives to the published word
  constant,  // the field is `scale`, or the first of `words`, in every row; there is no column
  nodes,     // nodes: a field of ranks is that times the GPUs of a node
  kv,        // the format of the KV cache
  latency,   // value * scale in seconds; several columns add up
  format,    // the number format of the table: `words` of the map
  select,    // the row belongs to this table if the column has one of `words`
  some,      // the row belongs to this table if the number is above 0
  none,      // ... if the number is 0, or the column is missing
};

/// A published word and ours. The published one may start or end with '*'.
struct PublishedWord {
  std::string_view published;
  std::string_view ours = {};
  double number = 0;
};

struct PublishedColumn {
  std::string_view name;
  PublishedUse use = PublishedUse::number;
  std::string_view field = {};  // the column of our own file
  double scale = 1;
  std::span<const PublishedWord> words = {};
  bool required = true;  // a file without it is an error
  double otherwise = 0;  // what the field is where the column is missing
};

struct PublishedFormat {
  std::string_view published;  // a word of the column of use `format`
  Dtype dtype = Dtype::bf16;
  bool quantizes = false;      // rows contain the quantisation of the input
  std::string_view ours = {};  // in the name of the table, where it is not the format's own
};

/// One table of ours from one kind of published file.
struct PublishedMap {
  std::string_view file;  // the table in the name of the file
  std::string_view op;    // an op that is declared (cost/ops)
  std::span<const PublishedColumn> columns;
  std::span<const PublishedFormat> formats;
  /// Stands in the name of our table where the file names no engine, or in its place.
  std::string_view library = {};
  /// Another file of the same engine and version, whose rows of the same shapes are added.
  std::string_view plus_file = {};
  /// Kernels that a row of ours consists of, by the column kernel_source. The latency is the sum of
  /// the medians of each.
  std::span<const std::string_view> kernels = {};
  std::span<const std::string_view> includes = {};
  std::string_view timer = "graph";
  std::string_view shape = {};  // dimensions without a column
  std::string_view note = {};
  /// Rows that take less than this many times the floor of eager launches are left out.
  double floors = 0;
  bool every_version = false;  // older files have shapes that newer ones lack
};

std::span<const PublishedMap> published_maps();

/// A file that no table of ours is made from.
struct PublishedWithoutOp {
  std::string_view file;
  std::string_view reason;
};
std::span<const PublishedWithoutOp> published_without_op();

/// An engine as names of published files spell it, and as its authors do.
struct PublishedEngine {
  std::string_view name;
  std::string_view title;
};
std::span<const PublishedEngine> published_engines();

enum class PublishedTest : std::uint8_t {
  is,
  is_not,
  unpadded,  // a number above 16 that is no multiple of 16
};
struct PublishedCondition {
  std::string_view column;
  PublishedTest test = PublishedTest::is;
  std::string_view value = {};  // may start or end with '*'
};

enum class PublishedVerdict : std::uint8_t {
  wrong,      // not taken, unless all rows are asked for
  elsewhere,  // our columns cannot say it: never taken
  partial,    // a file that replaces an older one in part: taken if its version is asked for
  marked,     // taken, and the note of the table says what is wrong
};

/// Files, or rows of them, that docs/DATA.md says something about. Names separated by spaces; each
/// may start or end with '*'.
struct PublishedRule {
  std::string_view files;
  std::string_view engines;
  std::string_view versions;
  std::string_view gpus;
  std::span<const PublishedCondition> conditions;  // all hold; none: the whole file
  PublishedVerdict verdict = PublishedVerdict::wrong;
  std::string_view reason;
};
std::span<const PublishedRule> published_rules();

/// Tables of ours that also answer for other engines, which run the same kernel.
struct SharedKernel {
  std::string_view table;  // may end with '*'
  std::string_view gpus;
  std::string_view engines;  // separated by spaces
};
std::span<const SharedKernel> shared_kernels();

/// Whether a name agrees with one of several patterns, separated by spaces.
bool agrees(std::string_view patterns, std::string_view name);

}  // namespace rooflua
