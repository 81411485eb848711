#pragma once
// The front doors. Each takes what the command line said and returns the exit status:
// 0 ok, 1 the user's mistake or a failed check, 2 usage, 70 ours.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace rooflua::app {

/// The command line asks for what cannot be: exit status 2.
class Misused : public Error {
 public:
  using Error::Error;
};

struct RunArguments {
  std::string scenario;
  std::vector<std::string> set;  // key=value
  std::optional<long> seed;
  int jobs = 1;
  std::string json;         // a file, or "-" for stdout
  std::string requests;     // per-request CSV
  std::string trace;        // Chrome trace
  std::string html;         // a report as one page
  std::optional<long> why;  // a request to follow
  std::string results;      // SQLite file that keeps runs as they finish
  bool explain = false;
  std::optional<double>
      strict_percent;  // share of time allowed to be extrapolated, stand_in or assumed
  bool trusted = false;
  double timeout_s = 0;
  bool jit_log = false, no_jit = false;
  bool quiet = false;
};

struct CheckArguments {
  std::vector<std::string> scenarios;
  std::vector<std::string> set;  // key=value
  std::string json;              // a file, or "-" for stdout
};

struct StepArguments {
  std::string model, hardware;
  int tp = 1;
  std::string steps = "kernels";     // NAME[:PRESET]
  std::vector<std::string> set;      // key=value of the step model
  std::vector<std::string> prefill;  // CTX+NEW
  std::vector<std::string> decode;   // CTXxCOUNT
  bool explain = false;
  std::string json;
};

struct CalibrateArguments {
  std::string scenario;
  std::vector<std::string> measured;  // vllm bench results or per-request CSV
  std::vector<std::string> params;    // key paths; empty = the host's time and corrections
  std::vector<std::string> set;
  std::optional<long> seed;
  std::string objective;  // mean or median
  int evaluations = 0;    // 0 = as it is
  int jobs = 1;
  bool quiet = false;
  std::string json;
};

int run(const RunArguments& arguments, const std::filesystem::path& home);
int calibrate(const CalibrateArguments& arguments, const std::filesystem::path& home);
/// What is wrong or doubtful in scenarios, and what their time would rest on.
int check(const CheckArguments& arguments, const std::filesystem::path& home);
/// `rooflua new`: a starting scenario at NAME(.lua); never overwrites.
int fresh(const std::string& name, const std::filesystem::path& home);
int step(const StepArguments& arguments, const std::filesystem::path& home);
int lua(const std::vector<std::string>& arguments, const std::filesystem::path& home);
/// The interactive prompt; without a terminal it reads a script and prints results only.
int repl(const std::string& scenario, const std::filesystem::path& home);
int list(const std::string& kind, const std::filesystem::path& home);
int help(const std::string& topic, const std::filesystem::path& home);

struct DataArguments {
  std::string path;    // of `describe`, `verify`, `import`
  std::string layout;  // "" = found out from the files
  std::string gpu;
  std::string to;
  std::string reference;  // of `compare`
};
int data_list(const std::filesystem::path& home);
int data_describe(const DataArguments& arguments, const std::filesystem::path& home);
int data_verify(const DataArguments& arguments, const std::filesystem::path& home);
int data_import(const DataArguments& arguments, const std::filesystem::path& home);
int data_compare(const DataArguments& arguments, const std::filesystem::path& home);

struct ValidateArguments {
  std::string folder;
  std::string tables;              // folders of kernel tables; "" = `tables` beside the folder
  std::string only;                // part of a case_id
  std::vector<std::string> steps;  // step models to compare; empty = all known
  std::vector<std::string> set;    // key=value of the first one
  int intervals = 0;               // replicates per case; 0 = no intervals
  int jobs = 1;                    // processes
  std::string json, html;
};
int validate(const ValidateArguments& arguments, const std::filesystem::path& home);

int diff(const std::string& a, const std::string& b, double tolerance);

/// The folder that holds scripts/, scenarios/ and bench_data/: $ROOFLUA_HOME, share/rooflua beside
/// the program's bin/, or the source tree it was built from. @throws Error if none of them is one
std::filesystem::path find_home(const std::filesystem::path& program);

}  // namespace rooflua::app
