#include "spec/family.h"

#include <filesystem>
#include <fstream>
#include <set>

#include "base/error.h"
#include "spec/hardware.h"
#include "tests/catch.h"
#include "tests/scratch.h"

using namespace rooflua;

namespace {

namespace fs = std::filesystem;
const auto home = test::source_dir();

/// A home whose only family has this file.
fs::path home_with(const std::string& text) {
  const fs::path folder = test::scratch() / "bench_data" / "families";
  fs::create_directories(folder);
  fs::copy_file(home / "bench_data/families/hopper.toml", folder / "hopper.toml",
                fs::copy_options::overwrite_existing);
  std::ofstream(folder / "mine.toml") << text;
  return test::scratch();
}

const std::string head = "title = \"Mine\"\nconstants_from = \"hopper\"\n[fit]\nrows = \"none\"\n";

}  // namespace

TEST_CASE("every family file is complete: each declared constant has a value and a source") {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(home / "bench_data" / "families")) {
    INFO(entry.path().string());
    const Family family = load_family(entry.path().stem().string(), home);
    CHECK(!family.title.empty());
    CHECK(!family.lender.empty());
    CHECK(family.sources.size() == kernel_constants().size());
    for (const KernelConstant& each : kernel_constants()) {
      INFO(each.name);
      const double value = family.constants.*each.value;
      CHECK(value >= each.least);
      CHECK(value <= each.most);
      REQUIRE(family.sources.count(std::string(each.name)) == 1);
      CHECK(!family.sources.at(std::string(each.name)).empty());
    }
    ++files;
  }
  CHECK(files >= 4);
}

TEST_CASE("every shipped GPU is of a family with a file") {
  for (const std::string& name : hardware_names(home)) {
    INFO(name);
    const Hardware gpu = load_hardware(name, home);
    CHECK(fs::exists(home / "bench_data" / "families" / (gpu.architecture + ".toml")));
    CHECK(!gpu.family.title.empty());
  }
}

TEST_CASE("the defaults are the constants of Hopper") {
  const KernelConstants defaults;
  const Family hopper = load_family("hopper", home);
  for (const KernelConstant& each : kernel_constants()) {
    INFO(each.name);
    CHECK(defaults.*each.value == hopper.constants.*each.value);
  }
}

TEST_CASE("every declaration has its own member, unit, meaning and range") {
  std::set<std::string_view> names;
  KernelConstants marked;
  double mark = 0;
  for (const KernelConstant& each : kernel_constants()) {
    INFO(each.name);
    CHECK(names.insert(each.name).second);
    CHECK(!each.unit.empty());
    CHECK(!each.doc.empty());
    CHECK(each.least < each.most);
    marked.*each.value = ++mark;
  }
  mark = 0;
  for (const KernelConstant& each : kernel_constants()) CHECK(marked.*each.value == ++mark);
}

TEST_CASE("a family on which nothing was fitted says so, and Hopper says nothing") {
  CHECK(fit_note(load_hardware("h20", home).family).empty());
  CHECK(fit_note(load_hardware("a100-sxm-80gb", home).family) ==
        "modelled kernels: constants fitted on Hopper (H100, H200), none on Ampere");
  CHECK(fit_note(load_family("CDNA3", home)) ==
        "modelled kernels: constants fitted on Hopper (H100, H200), none on CDNA3");
  CHECK(fit_note(load_family("unknown", home)) ==
        "modelled kernels: constants fitted on Hopper (H100, H200), none on a GPU of unknown "
        "architecture");
  CHECK(fit_note(load_family("../../secret", home)) ==
        "modelled kernels: constants fitted on Hopper (H100, H200), none on ../../secret");
  CHECK(fit_note(load_family("hopper", test::scratch() / "nowhere")).empty());
}

TEST_CASE("a family may state constants of its own beside those it takes over") {
  const Family mine =
      load_family("mine", home_with(head + "[constants]\ngemm_math = 0.5\n[sources]\n"
                                           "gemm_math = \"measured\"\n"));
  CHECK(mine.constants.gemm_math == 0.5);
  CHECK(mine.constants.attention_math == KernelConstants{}.attention_math);
  CHECK(mine.sources.at("gemm_math") == "measured");
  CHECK(mine.sources.at("attention_math") == "taken over from Hopper");
}

TEST_CASE("what is wrong with a family file is an error with its line") {
  const auto message = [](const std::string& text) {
    try {
      load_family("mine", home_with(text));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const auto has = [&](const std::string& text, const std::string& part) {
    INFO(message(text));
    CHECK(message(text).find(part) != std::string::npos);
  };
  const std::string fit = "[fit]\nrows = \"none\"\n";
  has(head + "[constants]\ngemm_mth = 1\n[sources]\ngemm_mth = \"x\"\n",
      "mine.toml:6: constants.gemm_mth: unknown constant 'gemm_mth'; did you mean 'gemm_math'?");
  has(head + "[constants]\ngemm_math = 1.5\n[sources]\ngemm_math = \"x\"\n",
      "mine.toml:6: constants.gemm_math: expected 0.01 to 1, found 1.5");
  has(head + "[constants]\ngemm_math = 0.5\n", "sources: is missing");
  has(head + "[sources]\ngemm_math = \"x\"\n", "is the source of a constant that is not there");
  has("title = \"Mine\"\n" + fit, "has no memory_efficiency, and constants_from names no other");
  has("title = \"Mine\"\nconstants_from = \"hoper\"\n" + fit, "found 'hoper'");
  has("title = \"Mine\"\nconstants_from = \"hopper\"\n", "fit: is missing");
  has("title = \"Mine\"\nconstants_from = \"mine\"\n" + fit, "found 'mine'");
}

TEST_CASE("a constant is set by its name and within its range") {
  KernelConstants constants;
  set_constant(constants, "kernel_launch_s", 5e-6, "here");
  CHECK(constants.kernel_launch_s == 5e-6);
  CHECK_THROWS_WITH(set_constant(constants, "kernel_launch_s", 5, "here"),
                    ContainsSubstring("here: expected 0 to 5e-05 s, found 5"));
  CHECK_THROWS_WITH(set_constant(constants, "kernel_lunch_s", 5e-6, "here"),
                    ContainsSubstring("did you mean 'kernel_launch_s'?"));
  CHECK(constants.kernel_launch_s == 5e-6);
}
