#pragma once
// One function per command of the program. Each takes the parsed options and returns the exit
// status: 0 success, 1 a mistake of the user or a failed check, 2 wrong usage, 70 a defect of the
// program, 130 stopped by Ctrl-C, 143 by TERM.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cost/tables/layout.h"

namespace rooflua::app {

/// The options contradict each other or the scenario: exit status 2.
class Misused : public Error {
 public:
  using Error::Error;
};

/// Keys of a model's config.json, as --ignore and --read-as ("theirs=known") name them.
struct ModelWords {
  std::vector<std::string> ignore, read_as;
  bool any() const { return !ignore.empty() || !read_as.empty(); }
};

/// Of the option --engine, which is the key `engine` of a scenario.
inline constexpr const char* engine_help =
    "The serving engine and its release: \"vllm 0.19\" (list engines)";

/// Of the option --users.
inline constexpr const char* users_help =
    "So many users who wait for answers and think, in place of the workload's arrivals (its "
    "think time, else 10 s)";

/// Of the option --bench.
inline constexpr const char* bench_help =
    "\"vllm bench serve ...\": the load of this benchmark's command, which is read and not executed "
    "(sglang.bench_serving, aiperf, genai-perf, guidellm as well); or a file of inference-perf, "
    "llm-d-benchmark or InferenceX";

/// Of the option --command: a launch command of an engine.
inline constexpr const char* command_help =
    "\"vllm serve MODEL ...\": model, engine and deployment are those of this launch command, "
    "which is read and not executed (sglang, trtllm-serve as well)";
/// Of the option --from: files of a start in place of a launch command.
inline constexpr const char* from_help =
    "FILE...: model, engine, deployment and GPU are those of a start: a start-up log of vLLM, SGLang "
    "or TensorRT-LLM, a /metrics text, /get_server_info, a manifest, a script (docs/ATTACH.md)";
/// Of the option --model beside --command.
inline constexpr const char* command_model_help =
    "With --command or --from: a model in place of the one that it names, as its config.json";

struct RunArguments {
  std::string scenario, engine, command, model, bench, hardware;
  std::vector<std::string> from;  // files of a start
  std::vector<std::string> set;  // key=value
  std::optional<long> seed, users;
  int jobs = 1;
  std::string json;      // a file, or "-" for stdout
  std::string requests;  // per-request CSV
  std::string trace;     // Chrome trace
  std::string html;      // a report as one page
  std::string as;        // the benchmark tool whose table is the report
  std::string why;       // the request whose time is explained: its id, or "slowest"
  std::string results;   // SQLite file that keeps runs as they finish, or a folder of such
  std::string shard;     // "3/16" or "auto/16": a part of the runs
  std::string round;     // of a search or plan: the file with the runs of its earlier rounds
  bool explain = false;
  // The largest share of time that may be extrapolated, stand_in, modelled or assumed; without it, any.
  std::optional<double> strict_percent;
  bool trusted = false;
  std::vector<std::string> write;  // FORMAT=FILE: results in the formats of other tools
  double timeout_s = 0;
  bool jit_log = false, no_jit = false;
  bool quiet = false;
  std::string progress;   // how far a run is, as lines of JSON in this file
  bool wide = false;      // tables with all columns, also at a narrow terminal
  std::string intervals;  // "on", "off"; empty: what the scenario says

  bool tells_progress() const { return !quiet || !progress.empty(); }
};

struct CheckArguments {
  std::vector<std::string> scenarios, from;
  std::string engine, command, model, hardware;
  std::vector<std::string> set;  // key=value
  std::string json;              // a file, or "-" for stdout
};

struct StepArguments {
  std::string model, hardware, engine, command;
  std::vector<std::string> from;  // files of a start
  std::optional<int> tp;
  std::string weights, kv;           // number formats; empty: the model's
  std::string steps = "kernels";     // NAME[:PRESET]
  std::vector<std::string> set;      // key=value of the step model
  std::vector<std::string> prefill;  // CTX+NEW
  std::vector<std::string> decode;   // CTXxCOUNT
  std::vector<std::string> images;   // WxH
  bool explain = false, wide = false;
  std::string intervals;  // "on", "off"; empty: on
  std::string json;
  ModelWords words;
};

struct CapacityArguments {
  std::string model, hardware, engine, command;
  std::vector<std::string> from;       // files of a start
  int tp = 0, pp = 0, dp = 0, ep = 0;  // 0: not stated
  std::string weights, kv;             // number formats; empty: the model's
  std::vector<std::string> set;        // key=value
  std::string json;                    // a file, or "-" for stdout
  ModelWords words;
};

/// A scenario, or a launch command on a GPU, that `advise`, `check-run` and `upgrade` ask about.
struct AskedScenario {
  std::string scenario, engine, command, model, hardware;
  std::vector<std::string> from;  // files of a start
  std::vector<std::string> set;  // key=value
  std::optional<long> seed;
  int jobs = 1;
  std::string json;  // a file, or "-" for stdout
};

/// The load of a launch command.
struct AskedLoad {
  std::string workload, bench;
  std::optional<double> rate;
  std::optional<long> clients, requests;
};

struct AdviseArguments {
  AskedScenario asked;
  AskedLoad load;
  std::vector<std::string> slo;  // METRIC=LIMIT
  std::optional<double> limit_s;
  std::optional<long> gpus;
};

struct CheckRunArguments {
  AskedScenario asked;
  std::string result;
};

struct UpgradeArguments {
  AskedScenario asked;
  AskedLoad load;
  std::vector<std::string> from;  // a release, or files of a start
  std::string to, html;
};

struct AttachArguments {
  AskedScenario asked;
  std::vector<std::string> files;
  std::string bench, write, url, html;
  std::optional<double> limit_s;
  std::optional<int> watched_s;  // between two scrapes of the server
};

struct CalibrateArguments {
  std::string scenario;
  std::vector<std::string> measured;  // vllm bench results or per-request CSV
  std::vector<std::string> params;    // key paths; empty = the host's time and corrections
  std::vector<std::string> set;
  std::optional<long> seed;
  std::string objective;  // mean or median
  int evaluations = 0;    // 0 = the fit's default
  int jobs = 1;
  bool quiet = false;
  std::string json;
};

/// Of `plan`: a question as text of options. Empty texts and lists take the command's defaults.
struct PlanArguments {
  std::string scenario;  // a file of kind "plan", instead of the options of a question
  std::string model, engine, command, workload, bench, objective, strategy, buy, candidates, power;
  std::optional<double> rate, clients, peak, confidence, horizon_s, strict_percent;
  std::vector<std::string> slo, gpus, autoscaler, watts, set, from;
  struct Axis {
    std::vector<std::string> values;
    bool flag = false;
  };
  std::map<std::string, Axis> axes;  // by the key of the option
  std::optional<long> survive, replicates, requests, ranks, seed, users, why;
  bool all = false, front = false, quiet = false;
  int jobs = 1;
  std::string json, html, write, emit;
  std::string results;              // SQLite file or folder that keeps runs as they finish
  std::string verify;               // a measured result; `scenario` is then the plan.json
  ModelWords words;
};
/// `rooflua plan`: the deployment that serves a load within an SLO at least cost.
int plan(const PlanArguments& arguments, const std::filesystem::path& home);

int run(const RunArguments& arguments, const std::filesystem::path& home);
int calibrate(const CalibrateArguments& arguments, const std::filesystem::path& home);
/// Prints mistakes and doubtful values of scenarios, and a forecast of the evidence of their time.
int check(const CheckArguments& arguments, const std::filesystem::path& home);

struct NewArguments {
  std::string name;
  std::string kind;                              // a file of scripts/templates; "" = serve
  std::string command, engine, model, hardware;  // of a launch command
  std::vector<std::string> from;                 // files of a start in place of it
  std::string form;                              // of a manifest, in place of a scenario
};
/// The kinds of `rooflua new`, sorted.
std::vector<std::string> template_kinds(const std::filesystem::path& home);
/// `rooflua new`: writes a commented scenario to NAME(.lua), and settings for editors beside it
/// where there are none. Never overwrites a file.
int write_template(const NewArguments& arguments, const std::filesystem::path& home);
int step(const StepArguments& arguments, const std::filesystem::path& home);
/// `rooflua capacity`: the KV cache of an engine; exit status 1 where it would not start.
int capacity(const CapacityArguments& arguments, const std::filesystem::path& home);
/// `rooflua advise`: exit status 1 where no setting that was tried meets the SLO.
int advise(const AdviseArguments& arguments, const std::filesystem::path& home);
/// `rooflua check-run`: exit status 1 where a figure lies outside of its interval.
int check_run(const CheckRunArguments& arguments, const std::filesystem::path& home);
/// `rooflua attach`: what files of a server say together, and which changes of it pay.
int attach(const AttachArguments& arguments, const std::filesystem::path& home);
/// `rooflua upgrade`: exit status 1 where the engine does not start on the release after.
int upgrade(const UpgradeArguments& arguments, const std::filesystem::path& home);
struct FilesArguments {
  std::vector<std::string> files;
  bool verbose = false, unread = false;
  std::string json;  // a file, or "-" for stdout
};
/// `rooflua files`: exit status 1 where a file is of no form that is known.
int list_files(const FilesArguments& arguments, const std::filesystem::path& home);
int lua(const std::vector<std::string>& arguments, const std::filesystem::path& home);
/// The interactive prompt; without a terminal it reads a script and prints results only.
int repl(const std::string& scenario, const std::filesystem::path& home);
/// What `list` knows.
std::vector<std::string> list_kinds(const std::filesystem::path& home);
struct ListFlags {
  bool aliases = false, age = false;
};
/// The names of a kind; without one, the kinds themselves.
int list(const std::string& kind, ListFlags flags, const std::filesystem::path& home);

struct DataArguments {
  std::string path;    // of `describe`, `verify`, `import`
  std::string layout;  // "" = recognised by the files
  std::string gpu;
  std::string to;
  std::string reference;  // of `compare`
  // Of `add`.
  std::string name, scenario, json;
  std::vector<std::string> set;  // key=value of the scenario
  bool dry_run = false, replace = false;
  bool write = false;  // of `family`
  // Of `import`, for published tables of engines.
  std::string engine_version;  // "" = the newest
  bool all_rows = false;       // also those that docs/DATA.md calls wrong
  double thin_percent = 0;     // 0 = no thinning
};
Layout layout_of(const DataArguments& arguments);
int data_list(const std::filesystem::path& home);
int data_describe(const DataArguments& arguments, const std::filesystem::path& home);
int data_verify(const DataArguments& arguments, const std::filesystem::path& home);
int data_import(const DataArguments& arguments, const std::filesystem::path& home);
int data_compare(const DataArguments& arguments, const std::filesystem::path& home);
/// `rooflua data add`: checks a folder, says what a scenario would still model, and copies the
/// folder to where GPUs are found by name. Exit status 1 where the folder has errors.
int data_add(const DataArguments& arguments, const std::filesystem::path& home);
/// `rooflua data family`: fits the constants of the kernel model to the rows of a folder.
int data_family(const DataArguments& arguments, const std::filesystem::path& home);

struct ValidateArguments {
  std::string folder;              // with sets of measured runs, or the file of one
  std::string tables;              // folders of kernel tables; "" = `tables` beside the folder
  std::string only;                // run the cases whose case_id contains this text
  std::vector<std::string> steps;  // step models to compare; empty = all known
  std::vector<std::string> set;    // key=value of the first one
  int intervals = 0;               // replicates per case; 0 = no intervals
  int jobs = 1;                    // processes
  bool wide = false;               // report every row
  std::string json, html, record;
};
int validate(const ValidateArguments& arguments, const std::filesystem::path& home);

int diff(const std::string& a, const std::string& b, double tolerance,
         const std::filesystem::path& home);
/// Compares the steps of two logs (scripts/lib/rooflua/schedules). 1 if they differ.
int diff_schedules(const std::string& a, const std::string& b, const std::filesystem::path& home);

/// The folder that holds scripts/, scenarios/ and bench_data/: $ROOFLUA_HOME, else share/rooflua
/// beside the program's bin/, else the source tree that the program was built from.
/// @throws Error if none of them holds these folders
std::filesystem::path find_home(const std::filesystem::path& program);

}  // namespace rooflua::app
