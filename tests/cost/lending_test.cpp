// A GPU without tables of its own is lent the utilisation of another one.

#include "tests/catch.h"
#include "tests/cost/small_tables.h"

using namespace rooflua;
using namespace rooflua::test;

TEST_CASE(
    "formats that neither GPU multiplies are lent at the peaks of what they are expanded to") {
  DatabaseOptions lender;
  lender.hardware = plain_gpu("donor", 200, 4);
  KernelTable lent = table(Op::gemm, {{1000, 4096, 4096, 4096}});
  lent.dtype = Dtype::mxfp4;
  DatabaseOptions options;
  options.hardware = plain_gpu("borrower", 100, 1);
  options.donor = MfuDatabase::from_tables({lent}, lender);
  const auto borrower = MfuDatabase::from_tables({}, options);
  Query query = gemm(4096, 4096, 4096);
  query.dtype = Dtype::mxfp4;
  CHECK(us(borrower->estimate(query)) == Approx(2000));  // half the peak
}

TEST_CASE("a donor lends utilisation, never latency, and a table of the GPU itself wins") {
  DatabaseOptions lender;
  lender.hardware = plain_gpu("donor", 200, 4);
  const KernelTable lent =
      table(Op::gemm, {{1000, 4096, 4096, 4096}, {10, 1, 4096, 4096}, {10, 1, 8, 8}});
  DatabaseOptions options;
  options.hardware = plain_gpu("borrower", 100, 1);
  options.donor = MfuDatabase::from_tables({lent}, lender);
  const auto borrower = MfuDatabase::from_tables({}, options);
  const Estimate compute = borrower->estimate(gemm(4096, 4096, 4096));
  CHECK(us(compute) == Approx(2000));  // half the peak
  CHECK(compute.mfu == Approx(options.donor->estimate(gemm(4096, 4096, 4096)).mfu));
  CHECK(us(borrower->estimate(gemm(1, 4096, 4096))) == Approx(40));  // a quarter of the bandwidth
  CHECK(us(borrower->estimate(gemm(1, 8, 8))) < 11);                 // a launch is a launch
  CHECK(compute.evidence == Evidence::stand_in);
  CHECK(borrower->describe(gemm(1, 4096, 4096)).find("donor") != std::string::npos);

  const auto own = MfuDatabase::from_tables({table(Op::gemm, {{1500, 4096, 4096, 4096}})}, options);
  CHECK(us(own->estimate(gemm(4096, 4096, 4096))) == Approx(1500));
  CHECK(own->estimate(gemm(4096, 4096, 4096)).evidence == Evidence::measured);
}

TEST_CASE("a part that rows contain is the lender's, where only the lender has the format") {
  KernelTable lent = table(Op::gemm, {{10, 1, 4096, 4096}});
  lent.dtype = Dtype::fp8_block, lent.includes = {"quantize"};
  KernelTable mine = table(Op::gemm, {{10, 1, 4096, 4096}});  // of another format
  DatabaseOptions lender, options;
  lender.hardware = plain_gpu("donor", 200, 4);
  options.hardware = plain_gpu("borrower", 100, 1);
  options.donor = MfuDatabase::from_tables({lent}, lender);
  const auto other = MfuDatabase::from_tables({mine}, options);
  CHECK(other->includes(Op::gemm, Dtype::fp8_block, "quantize"));
  CHECK(!other->includes(Op::gemm, Dtype::bf16, "quantize"));
  CHECK(MfuDatabase::from_tables({}, options)->includes(Op::gemm, Dtype::fp8_block, "quantize"));
  mine.dtype = Dtype::fp8_block;  // own rows of the format answer, and have no such part
  CHECK(
      !MfuDatabase::from_tables({mine}, options)->includes(Op::gemm, Dtype::fp8_block, "quantize"));
  options.donor = MfuDatabase::from_tables({mine}, lender);
  CHECK(!MfuDatabase::from_tables({}, options)->includes(Op::gemm, Dtype::fp8_block, "quantize"));
}
