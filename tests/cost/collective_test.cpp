#include "cost/model/collective.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "base/csv.h"
#include "base/error.h"
#include "cost/model/nccl.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

Hardware gpu(double link_gb_per_s) {
  Hardware hardware;
  hardware.name = "test";
  hardware.link_bandwidth = link_gb_per_s * unit::GB / unit::s;
  return hardware;
}
const Hardware nvlink4 = gpu(450);

double us(const Transfer& transfer) {
  return transfer.time / unit::us;
}

}  // namespace

TEST_CASE("an all-reduce is the smaller of a small-message and a large-message line") {
  CHECK(us(all_reduce(0 * unit::byte, 2, nvlink4)) == Approx(4.4));
  CHECK(us(all_reduce(1 * unit::MB, 2, nvlink4)) == Approx(4.4 + 3.84));
  CHECK(us(all_reduce(100 * unit::kB, 4, nvlink4)) == Approx(4.4 + 1.0));
  CHECK(us(all_reduce(10 * unit::MB, 4, nvlink4)) == Approx(6.3 + 55));
  CHECK(us(all_reduce(10 * unit::MB, 8, nvlink4)) == Approx(9 + 46));
  CHECK(us(all_reduce(10 * unit::MB, 8, nvlink4, true)) == Approx(9 + 46 + 16));
  CHECK(us(all_reduce(10 * unit::MB, 1, nvlink4)) == 0);
}

TEST_CASE("collectives grow with the message, never beat the link, and shrink with its bandwidth") {
  const Hardware slow = gpu(45);
  for (const int ranks : {2, 3, 4, 5, 6, 7, 8, 16}) {
    double reduce_before = 0, exchange_before = 0;
    for (double x = 256; x < 1e9; x *= 1.7) {
      const double reduce = us(all_reduce(Bytes(x), ranks, nvlink4));
      const double exchange = us(all_to_all(Bytes(x), ranks, nvlink4));
      CHECK(reduce > reduce_before);
      CHECK(exchange > exchange_before);
      CHECK(exchange >= x * (ranks - 1) / ranks / 450e9 * 1e6);
      // In-switch reduction may send a message once; nothing sends less.
      CHECK(reduce >= x / 450e9 * 1e6);
      CHECK(us(all_reduce(Bytes(x), ranks, slow)) > reduce);
      reduce_before = reduce;
      exchange_before = exchange;
    }
  }
}

TEST_CASE("more than eight ranks are an assumption") {
  CHECK(all_reduce(1 * unit::MB, 8, nvlink4).evidence == Evidence::modelled);
  CHECK(all_reduce(1 * unit::MB, 16, nvlink4).evidence == Evidence::assumed);
  CHECK(us(all_reduce(1 * unit::kB, 16, nvlink4)) > us(all_reduce(1 * unit::kB, 8, nvlink4)));
}

TEST_CASE("an all-to-all has constants of its own") {
  for (const KernelConstant& constant : kernel_constants()) {
    if (!constant.name.starts_with("all_to_all")) continue;
    INFO(constant.name);
    Hardware changed = nvlink4;
    changed.family.constants.*constant.value *= 0.9;
    const bool moves = us(all_to_all(1e2 * unit::byte, 4, changed)) !=
                           us(all_to_all(1e2 * unit::byte, 4, nvlink4)) ||
                       us(all_to_all(1e4 * unit::byte, 4, changed)) !=
                           us(all_to_all(1e4 * unit::byte, 4, nvlink4)) ||
                       us(all_to_all(1e9 * unit::byte, 4, changed)) !=
                           us(all_to_all(1e9 * unit::byte, 4, nvlink4));
    CHECK(moves);
  }
}

TEST_CASE("collectives refuse what cannot be sent") {
  CHECK_THROWS_AS(all_reduce(-1 * unit::byte, 2, nvlink4), Error);
  CHECK_THROWS_AS(all_reduce(1 * unit::byte, 0, nvlink4), Error);
  CHECK_THROWS_AS(all_reduce(1 * unit::byte, 2, gpu(0)), Error);
  CHECK_THROWS_AS(all_to_all(1 * unit::byte, -2, nvlink4), Error);
}

TEST_CASE("measured all-reduces in graphs are met within 15 % in the median") {
  for (const std::string gpu_name : {"h100", "h200"}) {
    const std::string table = "tables/aic/" + gpu_name + "_sxm_custom_allreduce_vllm0.24.0.csv";
    if (!test::have_shared(table)) return;
    const CsvFile file = read_csv(test::shared_data() / table);
    for (const int ranks : {2, 4, 8}) {
      std::vector<double> errors;
      for (const CsvRow& row : file.rows) {
        if (file.text(row, file.require("kernel_source")) != "vLLM_custom_graph") continue;
        if (file.integer(row, file.require("num_gpus")) != ranks) continue;
        const double bytes = 2 * file.number(row, file.require("message_size"));
        const double measured = 1e3 * file.number(row, file.require("latency"));
        const double error = us(all_reduce(Bytes(bytes), ranks, nvlink4)) / measured - 1;
        errors.push_back(std::abs(error));
      }
      std::sort(errors.begin(), errors.end());
      REQUIRE(errors.size() == 23);
      std::printf("%s all-reduce of %d: median error %.1f %%, worst %.1f %% of %zu rows\n",
                  gpu_name.c_str(), ranks, 100 * errors[errors.size() / 2], 100 * errors.back(),
                  errors.size());
      CHECK(errors[errors.size() / 2] < 0.15);
    }
  }
}

TEST_CASE(
    "NCCL's cost model prices more than two ranks over a bus, and more than a node over links") {
  Hardware bus = gpu(32);
  bus.host_bandwidth = 27.8 * unit::GB / unit::s;
  const double two = us(all_reduce(1 * unit::kB, 2, bus)),
               four = us(all_reduce(1 * unit::kB, 4, bus));
  CHECK(two == Approx(4.4 + 3.84e-3 * 450 / 32));
  CHECK(four == Approx(6.6 + 6 * 1.0 + 1e3 / (32e3 * 0.75 / 4 * 4 / 6)));
  CHECK(us(all_reduce(1 * unit::MB, 4, gpu(32))) !=
        Approx(us(all_reduce(1 * unit::MB, 4, bus))));  // no host: not known to be a bus
  Hardware rack = nvlink4;
  rack.domain_gpus = 72;
  CHECK(us(all_reduce(0 * unit::byte, 16, rack)) == Approx(6.6 + 30 * 0.6));
  CHECK(all_reduce(1 * unit::MB, 16, rack).evidence == Evidence::assumed);
  CHECK(all_reduce(1 * unit::MB, 8, rack).time == all_reduce(1 * unit::MB, 8, nvlink4).time);
}

TEST_CASE(
    "NCCL's cost model is within a quarter of NCCL's rows, in the median, where it is known to "
    "be") {
  struct Rows {
    const char* gpu;
    double link_gb_per_s;
    bool over_bus;
    std::vector<int> within;  // ranks; of others the error is printed
  };
  const Rows all[] = {{"a100-sxm-80gb", 300, false, {4, 8}},
                      {"h100-sxm", 450, false, {2, 4, 8}},
                      {"h200-sxm", 450, false, {2, 4, 8}},
                      {"b200", 900, false, {2, 8}},
                      {"b300", 900, false, {2, 8}},
                      {"gb200", 900, false, {4}},
                      {"gb300", 900, false, {2}},
                      {"l40s", 32, true, {2, 4}},
                      {"rtx-pro-6000", 64, true, {4, 8}}};
  for (const Rows& rows : all) {
    const CsvFile file =
        read_csv(test::source_dir() / "bench_data" / rows.gpu / "collective_bf16_nccl.csv");
    for (const int ranks : {2, 4, 8}) {
      std::vector<double> errors;
      for (const CsvRow& row : file.rows) {
        if (file.text(row, file.require("collective")) != "all_reduce") continue;
        if (file.integer(row, file.require("ranks")) != ranks) continue;
        const double priced = nccl_all_reduce_s(file.number(row, file.require("bytes")), ranks,
                                                rows.link_gb_per_s * 1e9, rows.over_bus);
        errors.push_back(std::abs(priced * 1e6 / file.number(row, file.require("latency_us")) - 1));
      }
      if (errors.empty()) continue;
      std::sort(errors.begin(), errors.end());
      const double median = errors[errors.size() / 2];
      std::printf("NCCL's cost model, all-reduce of %d on %s: median error %.1f %% of %zu rows\n",
                  ranks, rows.gpu, 100 * median, errors.size());
      const bool known = std::ranges::find(rows.within, ranks) != rows.within.end();
      if (known) CHECK(median < 0.25);
    }
  }
}
