-- How much of a step rests on rows of its own GPU: shipped models on GPUs with tables, at several widths,
-- with its own weights and with FP8. `rooflua lua tests/scripts/steps/shares_test.lua --table` prints the table of
-- docs/DATA.md.
local test = dofile "tests/scripts/harness.lua"
local shares = dofile "tests/scripts/steps/shares.lua"

--- GPUs whose tables cover dense models: GEMMs, attention and, above tp 1, all-reduces.
local complete = { "b200", "b300", "gb200", "gb300", "h100-sxm", "h200-sxm", "l40s", "rtx-pro-6000" }

test("nine tenths of what has tables are measured or interpolated, for models whose shapes were published", function()
  local compared = 0
  for _, gpu in ipairs(complete) do
    for _, model in ipairs(shares.published) do
      for _, tp in ipairs { 1, 2, 4 } do
        for _, weights in ipairs { "bf16", "fp8" } do
          local found = shares.of(model, gpu, tp, weights)
          if found then
            for phase, each in pairs(found) do
              test.at_least(each.of_tabled, 0.9, ("%s on %s, tp %d, %s, %s"):format(model, gpu, tp, weights, phase))
              compared = compared + 1
            end
          end
        end
      end
    end
  end
  test.at_least(compared, 300)
end)

test("of the whole time of models of 14B and more at tp 1 in bf16, at least 87 %", function()
  for _, gpu in ipairs(complete) do
    for _, model in ipairs { "llama-3.1-70b", "qwen3-32b", "codellama-34b", "qwen3-14b" } do
      local found = shares.of(model, gpu, 1, "bf16")
      if found then
        for phase, each in pairs(found) do
          test.at_least(each.of_all, 0.87, ("%s on %s, %s"):format(model, gpu, phase))
        end
      end
    end
  end
end)

test("hello rests on nine tenths measured or interpolated", function()
  local good, all = 0, 0
  for _, each in pairs(shares.of("llama-3.1-8b", "h200-sxm", 1, "bf16")) do
    good, all = good + each.good_s, all + each.all_s
  end
  test.at_least(good / all, 0.9)
end)

if arg and arg[1] == "--table" then shares.print_table() end
test.finish()
