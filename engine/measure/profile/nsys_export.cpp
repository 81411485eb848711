// Exports of Nsight Systems: SQLite with a table per kind of activity.
// @source Nsight Systems User Guide, "SQLite Schema Reference"

#include <map>
#include <set>
#include <vector>

#include "base/error.h"
#include "measure/profile/profile.h"
#include "measure/store/statement.h"

namespace rooflua {

namespace {

class NsysExport {
 public:
  NsysExport(const std::string& path, ProfileLimits limits) : path_(path), builder_(path, limits) {
    if (sqlite3_open_v2(path.c_str(), &database_, SQLITE_OPEN_READONLY, nullptr) != SQLITE_OK)
      refuse("cannot be opened");
    // Of the file's own SQL nothing runs: no functions in views, and views are refused below.
    sqlite3_db_config(database_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(database_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  }
  ~NsysExport() { sqlite3_close(database_); }
  NsysExport(const NsysExport&) = delete;
  NsysExport& operator=(const NsysExport&) = delete;

  Profile read() {
    try {
      return all();
    } catch (const Error& error) {
      if (error.where() != path_) throw;  // it names the place already
      const int code = sqlite3_errcode(database_);
      if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
        refuse("is damaged or truncated; export it again: nsys export --type sqlite");
      throw;
    }
  }

 private:
  using Event = ProfileBuilder::Event;

  [[noreturn]] void refuse(const std::string& what) const { throw Error(path_, what); }

  Profile all() {
    read_schema();
    constexpr const char* kernels = "CUPTI_ACTIVITY_KIND_KERNEL";
    if (!has(kernels)) {
      if (has("CUPTI_ACTIVITY_KIND_GRAPH_TRACE"))
        refuse("has graphs as a whole and no kernels; record with --cuda-graph-trace=node");
      refuse("has no table CUPTI_ACTIVITY_KIND_KERNEL: no export of Nsight Systems with CUDA");
    }
    if (has("CUPTI_ACTIVITY_KIND_GRAPH_TRACE"))
      builder_.profile().notes.push_back(
          "some graphs were recorded as a whole, without their kernels; record with "
          "--cuda-graph-trace=node");
    read_gpu();
    const auto device = [](Statement& row) {
      Event out;
      out.lane = row.integer(5);
      out.correlation = row.integer(3);
      out.device = static_cast<int>(row.integer(4));
      return out;
    };
    const std::string graph = column(kernels, "graphNodeId") ? "ifnull(t.graphNodeId, 0)" : "0";
    add(kernels,
        "t.start, t.\"end\", " + text_of(kernels, {"demangledName", "shortName"}) +
            ", t.correlationId, t.deviceId, t.streamId, " + graph,
        [&](Statement& row) {
          Event out = device(row);
          out.in_graph = row.integer(6) != 0;
          return out;
        });
    for (const char* copies : {"CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET"}) {
      const std::string name = std::string(copies).ends_with("CPY") ? "'memcpy'" : "'memset'";
      add(copies, "t.start, t.\"end\", " + name + ", t.correlationId, t.deviceId, t.streamId",
          [&](Statement& row) {
            Event out = device(row);
            out.kind = ProfileKind::copy;
            return out;
          });
    }
    constexpr const char* calls = "CUPTI_ACTIVITY_KIND_RUNTIME";
    add(calls,
        "t.start, t.\"end\", " + text_of(calls, {"nameId"}) + ", t.correlationId, 0, t.globalTid",
        [&](Statement& row) {
          Event out = device(row);
          out.kind = ProfileKind::launch;
          out.process = 1;
          return out;
        });
    constexpr const char* ranges = "NVTX_EVENTS";
    const std::string inline_text = column(ranges, "text") ? "ifnull(t.text, " : "(";
    add(ranges,
        "t.start, t.\"end\", " + inline_text + text_of(ranges, {"textId"}) +
            "), -1, 0, t.globalTid",
        [&](Statement& row) {
          Event out = device(row);
          out.kind = ProfileKind::annotation;
          out.process = 1;
          return out;
        });
    Profile out = builder_.take();
    out.format = "nsys";
    return out;
  }

  void read_schema() {
    Statement tables(
        database_, path_,
        "SELECT name, type, rootpage FROM sqlite_master WHERE type IN ('table', 'view')");
    while (tables.step()) {
      const bool is_table = tables.text(1) == "table" && tables.integer(2) != 0;
      (is_table ? tables_ : others_).insert(tables.text(0));
    }
    for (const std::string& name : tables_) {
      if (!name.starts_with("CUPTI_") && name != "NVTX_EVENTS" && name != "StringIds") continue;
      Statement columns(database_, path_, "SELECT name FROM pragma_table_info('" + name + "')");
      while (columns.step()) columns_[name].insert(columns.text(0));
    }
  }
  bool has(const std::string& table) const {
    if (others_.contains(table))
      refuse("'" + table + "' is a view and no table, and to read it would run SQL");
    return tables_.contains(table);
  }
  bool column(const std::string& table, const std::string& name) const {
    const auto found = columns_.find(table);
    return found != columns_.end() && found->second.contains(name);
  }
  /// SQL for the text of the first of these columns that there is: numbers of StringIds.
  std::string text_of(const std::string& table, std::initializer_list<const char*> names) const {
    for (const char* name : names)
      if (column(table, name) && has("StringIds"))
        return "(SELECT value FROM StringIds WHERE id = t." + std::string(name) + ")";
    return "''";
  }
  void read_gpu() {
    if (!has("TARGET_INFO_GPU")) return;
    Statement gpu(database_, path_, "SELECT name FROM TARGET_INFO_GPU LIMIT 1");
    if (gpu.step()) builder_.profile().gpu = gpu.text(0).substr(0, 200);
  }
  template <class Make>
  void add(const std::string& table, const std::string& fields, Make make) {
    if (!has(table)) return;
    Statement rows(database_, path_,
                   "SELECT " + fields + " FROM \"" + table + "\" t WHERE t.\"end\" IS NOT NULL");
    std::int64_t row = 0;
    while (rows.step()) {
      ++row;
      Event event = make(rows);
      event.start_ns = rows.integer(0);
      event.duration_ns = rows.integer(1) - event.start_ns;
      const std::string name = rows.text(2);
      event.name = name;
      const bool wrong = event.start_ns < 0 || event.duration_ns < 0;
      builder_.add(event, wrong ? path_ + ": " + table + " row " + std::to_string(row) : path_);
    }
  }

  std::string path_;
  ProfileBuilder builder_;
  sqlite3* database_ = nullptr;
  std::set<std::string> tables_, others_;
  std::map<std::string, std::set<std::string>> columns_;
};

}  // namespace

Profile read_nsys_export(const std::string& path, ProfileLimits limits) {
  return NsysExport(path, limits).read();
}

}  // namespace rooflua
