#include "spec/hardware.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/toml.h"
#include "spec/catalogue.h"
#include "spec/figures/hardware.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

const auto home = test::source_dir();

Hardware from_text(const std::string& text) {
  return hardware_from_table(parse_toml(text, "h.toml"), "mine", "h.toml");
}

const std::string complete = R"(architecture = "hopper"
memory_gb = 100
usable_memory_gib = 90
memory_gb_per_s = 1000
link_gb_per_s = 100
sms = 100
clock_mhz = 1000
l2_mib = 50
[peak_tflop_per_s]
bf16 = 100
)";

}  // namespace

TEST_CASE("a last-level cache need not be stated") {
  std::string without = complete;
  without.erase(without.find("l2_mib"), std::string("l2_mib = 50\n").size());
  CHECK(from_text(without).l2.in_base_units() == 0);
}

TEST_CASE("accelerators of other kinds have a datasheet and say that nothing was fitted on them") {
  for (const char* name : {"vr200", "mi455x", "tpu-v7x", "tpu-v6e", "trainium3", "trainium2",
                           "gaudi3", "ascend-910b", "ascend-910c"}) {
    INFO(name);
    const Hardware device = load_hardware(name, home);
    CHECK(device.family.fitted_on.empty());
    CHECK_FALSE(fit_note(device.family).empty());
    CHECK(device.usable_memory.in_base_units() < device.memory.in_base_units());
    for (const HardwareFigure& figure : hardware_figures()) {
      if (figure.get == nullptr || figure.get(device) == 0) continue;
      INFO(figure.key);
      CHECK(device.sources.count(std::string(figure.key)) == 1);
    }
  }
}

TEST_CASE("the shipped GPUs are there, and every figure has a source") {
  const auto names = hardware_names(home);
  for (const char* name :
       {"a100-sxm-80gb", "b200", "h100-sxm", "h20", "h200-sxm", "h800", "l40s", "rtx-pro-6000"}) {
    INFO(name);
    REQUIRE(std::find(names.begin(), names.end(), name) != names.end());
    const Hardware gpu = load_hardware(name, home);
    for (const char* key : {"peak_tflop_per_s", "memory_gb", "usable_memory_gib", "memory_gb_per_s",
                            "link_gb_per_s", "sms", "clock_mhz", "l2_mib"}) {
      INFO(key);
      CHECK(gpu.sources.count(key) == 1);
    }
  }
}

TEST_CASE("peaks are dense: no shipped tensor core does more than its units can") {
  // Dense bf16 flop per SM and clock: 2048 on Ampere (256 FMA x 4 cores x 2), 4096 on Hopper,
  // 1024 on consumer Ada and Blackwell, 8192 on data-centre Blackwell. A sparse rate would be twice
  // that.
  const auto per_sm_and_clock = [](const char* name) {
    const Hardware gpu = load_hardware(name, home);
    return gpu.peak_for(Dtype::bf16).in_base_units() / gpu.sms / gpu.clock_hz;
  };
  CHECK(per_sm_and_clock("a100-sxm-80gb") == Approx(2048).epsilon(0.01));
  CHECK(per_sm_and_clock("h100-sxm") < 4096);
  CHECK(per_sm_and_clock("h100-sxm") > 3500);
  CHECK(per_sm_and_clock("l40s") == Approx(1024).epsilon(0.02));
  CHECK(per_sm_and_clock("rtx-pro-6000") == Approx(1024).epsilon(0.01));
  CHECK(per_sm_and_clock("b200") < 8192);
  for (const std::string& name : hardware_names(home)) {
    const Hardware gpu = load_hardware(name, home);
    const auto fp8 = gpu.peak.find(Dtype::fp8);
    if (fp8 == gpu.peak.end()) continue;
    INFO(name);
    // Narrow formats have units of their own, or none.
    const std::map<std::string, double> others = {
        {"rubin", 4.375}, {"cdna5", 4}, {"gaudi", 1}, {"trainium2", 1.9475}, {"trainium3", 3.75}};
    auto other = others.find(name);
    if (other == others.end()) other = others.find(gpu.architecture);
    CHECK(fp8->second / gpu.peak_for(Dtype::bf16) ==
          Approx(other == others.end() ? 2 : other->second).epsilon(0.02));
  }
}

TEST_CASE("a GPU is found by the spellings in use") {
  for (const char* spelling : {"h100-sxm", "H100", "h100_sxm", "H100-SXM", "H100_80GB_HBM3",
                               "NVIDIA H100 80GB HBM3", "H100-80GB-SXM"}) {
    INFO(spelling);
    CHECK(load_hardware(spelling, home).name == "h100-sxm");
  }
  CHECK(load_hardware("nvidia h200", home).name == "h200-sxm");
  CHECK(load_hardware("A100-80GB", home).name == "a100-sxm-80gb");
  CHECK(load_hardware("RTX PRO 6000", home).name == "rtx-pro-6000");
}

TEST_CASE("no two GPUs and no two models share a spelling") {
  std::vector<CatalogueEntry> entries;
  for (const std::string& name : hardware_names(home)) {
    entries.push_back({name, load_hardware(name, home).aliases});
  }
  for (const CatalogueEntry& entry : entries) {
    for (const std::string& alias : entry.aliases) {
      INFO(alias);
      CHECK(find_by_name("hardware", alias, entries) == entry.name);
    }
  }
}

TEST_CASE("a spelling that two entries claim is an error that names both") {
  CHECK_THROWS_WITH(find_by_name("hardware", "X-1", {{"a", {"x1"}}, {"b", {"X 1"}}}),
                    "hardware 'X-1' may mean any of: a, b; a name belongs to one file");
}

TEST_CASE("an unknown GPU gets suggestions and the list") {
  try {
    load_hardware("h100-sxn", home);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find("unknown hardware 'h100-sxn'; did you mean 'h100-sxm'") ==
          0);
  }
}

TEST_CASE("the words of a GPU's name may stand in any order") {
  const auto name = [](const char* text) { return load_hardware(text, home).name; };
  CHECK(name("a100-80gb-sxm") == "a100-sxm-80gb");
  CHECK(name("NVIDIA-A100-80GB-SXM4") == "a100-sxm-80gb");
  CHECK(name("80GB A100 SXM") == "a100-sxm-80gb");
  CHECK(name("a100-40gb-sxm") == name("a100-sxm-40gb"));
  CHECK(name("sxm-h100") == "h100-sxm");
}

TEST_CASE("a GPU of which some words are known is an error that says which there are") {
  const auto says = [](const char* wanted, const char* part) {
    try {
      return load_hardware(wanted, home).name.empty();
    } catch (const Error& error) {
      return std::string(error.what()).find(part) != std::string::npos;
    }
  };
  CHECK(says("a100-96gb-sxm", "there is 'a100-sxm-40gb', 'a100-sxm-80gb'"));
  CHECK(says("a100-80gb-nvl", "'a100-sxm-80gb'"));
  CHECK(says("80gb-sxm", "unknown hardware '80gb-sxm'"));
}

TEST_CASE("the H100 borrows the tables of the H200 and differs from it in memory only") {
  const Hardware h100 = load_hardware("h100-sxm", home), h200 = load_hardware("h200-sxm", home);
  CHECK(load_hardware("h800", test::source_dir()).tables_from == "h200-sxm");
  CHECK(h200.tables_from.empty());
  CHECK(h100.peak_for(Dtype::bf16) == h200.peak_for(Dtype::bf16));
  CHECK(h200.memory_bandwidth == 4.8 * unit::TB / unit::s);
  CHECK(h100.memory_bandwidth / unit::GB * unit::s == Approx(3350));
}

TEST_CASE("a dtype without a peak is an error that lists those with one") {
  CHECK_THROWS_WITH(load_hardware("a100-sxm-80gb", home).peak_for(Dtype::fp8),
                    "a100-sxm-80gb: has no peak rate for fp8 (it has bf16, fp16, int8)");
}

TEST_CASE("a GPU without bf16 computes 16-bit models in fp16") {
  const Hardware t4 = load_hardware("t4", home);
  CHECK(t4.peak_for(Dtype::bf16) == 65 * unit::TFLOP / unit::s);
  CHECK(t4.computes_in(Dtype::fp8) == Dtype::bf16);
  CHECK_THROWS_AS(t4.peak_for(Dtype::fp8), Error);
}

TEST_CASE("a table of one's own is read and checked") {
  CHECK(from_text(complete).peak_for(Dtype::bf16) == 100 * unit::TFLOP / unit::s);
  CHECK(from_text(complete).name == "mine");
  CHECK_THROWS_AS(from_text(complete + "fp9 = 1\n"), Error);
  CHECK_THROWS_AS(from_text(complete + "fp8 = -1\n"), Error);
  CHECK_THROWS_AS(from_text("memory = 1\n" + complete), Error);
  CHECK_THROWS_AS(from_text(complete + "[sources]\nmemory_gb_per_h = \"x\"\n"), Error);
  std::string swollen = complete;
  swollen.replace(swollen.find("usable_memory_gib = 90"), 22, "usable_memory_gib = 120");
  CHECK_THROWS_AS(from_text(swollen), Error);
}

TEST_CASE(
    "a figure in another unit is an error with its line, what was found and what would be right") {
  const auto said = [](const std::string& key, const std::string& value) {
    std::string text = complete;
    const std::size_t at = text.find(key + " = ") + key.size() + 3;
    text.replace(at, text.find('\n', at) - at, value);
    try {
      from_text(text);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(
      said("memory_gb_per_s", "3.35") ==
      "h.toml:4: memory_gb_per_s: found 3.35 GB/s, and GPUs have 20 to 1e+06; 3.35 TB/s are 3350");
  CHECK(
      said("memory_gb_per_s", "3.35e12") ==
      "h.toml:4: memory_gb_per_s: found 3.35e+12 GB/s, and GPUs have 20 to 1e+06; 3.35e+12 bytes/s "
      "are 3350");
  CHECK(said("bf16", "989e12").find("h.toml:10: peak_tflop_per_s.bf16: found 9.89e+14 TFLOP/s") ==
        0);
  CHECK(said("bf16", "0.989").find("0.989 PFLOP/s are 989") != std::string::npos);
  CHECK(said("memory_gb", "80e9").find("h.toml:2: memory_gb: ") == 0);
  CHECK(said("memory_gb", "80e9").find("8e+10 bytes are 80") != std::string::npos);
  CHECK(said("usable_memory_gib", "0.08").find("0.08 TB are 74.5") != std::string::npos);
  CHECK(said("link_gb_per_s", "0.45").find("0.45 TB/s are 450") != std::string::npos);
  CHECK(said("clock_mhz", "1.98").find("1.98 GHz are 1980") != std::string::npos);
  CHECK(said("l2_mib", "50e6").find("5e+07 bytes are 47.6837") != std::string::npos);
  for (const char* key : {"memory_gb_per_s", "memory_gb", "usable_memory_gib", "link_gb_per_s",
                          "sms", "clock_mhz", "l2_mib", "bf16"}) {
    for (const char* value : {"0", "-1", "nan", "inf", "-inf", "true", "'80'", "1e30", "[1]"}) {
      if (std::string(key) == "l2_mib" && std::string(value) == "0") continue;  // not stated
      INFO(key << " = " << value);
      const std::string message = said(key, value);
      CHECK(message.find("h.toml:") == 0);
      CHECK(message.find(std::string(key) + ": ") != std::string::npos);
      CHECK(message.find("found") != std::string::npos);
    }
  }
}
