-- Rows of measured closed loops: what of a row is read, and what is an error of that row.
local test = dofile "tests/scripts/harness.lua"
local rows = require "rooflua.validate.closed_loops.rows"

local write, columns = dofile "tests/scripts/validate/closed_loop_file.lua" (test)

local function read(row, about) return rows.read(write({ row }, about))[1] end

local function text_of(list)
  local out = {}
  for i, each in ipairs(list) do out[i] = each[1] .. "=" .. each[2] end
  return table.concat(out, " ")
end

local function widths_text(widths)
  return ("%d %d %d %d"):format(widths.tp, widths.dp, widths.ep, widths.moe_tp)
end

local split = { mode = "pd", widths = "P:1,4,4 D:8,1,8", workers = "P:2 D:3" }

local function with(given, more)
  local out = {}
  for name, value in pairs(given) do out[name] = value end
  for name, value in pairs(more) do out[name] = value end
  return out
end

-- Errors ---------------------------------------------------------------------------------------------------------

test("a file without a column that is needed names it", function()
  for _, name in ipairs(rows.required) do
    test.raises(":1: a column is missing: " .. name .. "; a file of measured closed loops has question, family,",
      function() rows.read(write({ {} }, { without = name })) end)
  end
  test.raises("a column is missing: widths", function() rows.read(write({ {} }, { without = "widths" })) end)
  for _, name in ipairs { "options", "env", "date", "client", "workers", "config", "speculation" } do
    test.equal(rows.read(write({ {} }, { without = name }))[1].problem, nil, name)
  end
  test.raises("has a header and no row", function() rows.read(write {}) end)
end)

--- What is wrong with a row, and a part of what the row's problem says.
local broken = {
  { { widths = "4,1,3" }, "widths '4,1,3': tp 4 x dp 1 ranks are not divided by ep 3" },
  { { widths = "4,1" }, "widths: expected tp,dp,ep, found '4,1'" },
  { { widths = "4,1,1,4" }, "widths: expected tp,dp,ep, found '4,1,1,4'" },
  { { widths = "" }, "widths: expected tp,dp,ep, found ''" },
  { { widths = "-1,1,1" }, "widths: expected tp,dp,ep" },
  { { widths = "0,1,1" }, "are not divided" },
  { { widths = "1,1,0" }, "are not divided" },
  { { options = "max_num_seqs" }, "options: expected name=value, found 'max_num_seqs'" },
  { { options = "a=1;b" }, "options: expected name=value, found 'b'" },
  { { options = "=1" }, "options: expected name=value" },
  { { env = "A=1;;B" }, "env: expected name=value, found 'B'" },
  { { mode = "agg?" }, "mode: expected agg or pd, found 'agg?'" },
  { { workers = "two" }, "workers: expected a whole number above 0" },
  { { mode = "pd", widths = "1,1,1", workers = "P:1 D:1" }, "widths: mode pd has P:... D:..., found '1,1,1'" },
  { { mode = "pd", widths = "P:1,1,1 D:1,1", workers = "P:1 D:1" }, "widths: expected tp,dp,ep, found '1,1'" },
  { { mode = "pd", widths = "P:1,1,1 D:1,1,1" }, "workers: mode pd has engines for prefill and decode, as P:1 D:4" },
  { { mode = "pd", widths = "P:1,1,1 D:1,1,1", workers = "P:0 D:1" }, "workers: mode pd" },
  { { mode = "pd", widths = "P:1,1,1 D:1,1,1", workers = "1" }, "workers: mode pd" },
  { with(split, { options = "a=1" }), "options: mode pd has P:... D:..., found 'a=1'" },
  { with(split, { env = "D: A=1" }), "env: mode pd has P:... D:..." },
  { with(split, { options = "P: a=1 D: b" }), "options: expected name=value, found 'b'" },
  { { clients = 0 }, "clients: expected a whole number above 0" },
  { { clients = 1.5 }, "clients: expected a whole number above 0" },
  { { isl = "long" }, "isl: expected a whole number above 0" },
  { { osl = "" }, "osl: expected a whole number above 0" },
  { { ttft_ms = "" }, "ttft_ms: expected milliseconds above 0" },
  { { tpot_ms = -3 }, "tpot_ms: expected milliseconds above 0" },
  { { tpot_ms = "fast" }, "tpot_ms: expected milliseconds above 0" },
  { { family = "" }, "column 'family' is empty" },
  { { warmup = "maybe" }, "warmup: expected yes, no or unknown, found 'maybe'" },
  { { date = "25.03.2026" }, "date: expected a day as in 2026-03-25, found '25.03.2026'" },
  { { saturated = "0.3" }, "saturated: expected yes, no or unknown" },
  { { more = ",one,two" }, "the row has 26 columns, the header 24" },
  { { question = "first" }, "question 'first' is that of line 2" },
}

test("a broken row costs that row, and says where and why", function()
  local list = { { question = "first" } }
  for i, each in ipairs(broken) do list[i + 1] = each[1] end
  local found = rows.read(write(list))
  test.equal(#found, #broken + 1)
  test.equal(found[1].problem, nil)
  for i, each in ipairs(broken) do
    local problem = tostring(found[i + 1].problem)
    test.check(problem:find((".csv:%d: "):format(i + 2), 1, true), "%d: %s", i, problem)
    test.check(problem:find(each[2], 1, true), "%d: %s", i, problem)
  end
  test.equal(#columns, 24)
end)

test("older names have mistakes of their own", function()
  for text, part in pairs { ["4,1,4,4"] = "are not divided by ep 4", ["4,1"] = "expected tp,dp,moe_tp,moe_ep",
    ["4,1,1"] = "expected tp,dp,moe_tp,moe_ep, found '4,1,1'" } do
    local problem = read({ widths_tp_dp_moetp_moeep = text }, { older = true }).problem
    test.check(tostring(problem):find(part, 1, true), "%s: %s", text, tostring(problem))
  end
  local problem = read({ mode = "pd", workers = "1P1D" }, { older = true }).problem
  test.check(problem:find("mode pd has the widths of prefill;decode", 1, true), problem)
  problem = read({ scored = "perhaps" }, { older = true }).problem
  test.check(problem:find("scored: expected yes, no or unknown, found 'perhaps'", 1, true), problem)
end)

test("a row that the file does not score may lack everything but who ran it", function()
  local found = read({ scored = "no", scored_why = "images", widths_tp_dp_moetp_moeep = "", ttft_ms = "" },
    { older = true })
  test.equal(found.problem, nil)
  test.equal(found.scored_why, "images")
end)

-- What is read -----------------------------------------------------------------------------------------------------

test("one engine has its widths, options and environment", function()
  local found = read { widths = "2,4,8", options = 'a_b=1;c.d=x=y;e={"f":[1,2]};g=', env = "A=0;B=x y" }
  test.equal(#found.parts, 1)
  test.equal(widths_text(found.parts[1].widths), "2 4 8 1")
  test.equal(found.parts[1].engines, 1)
  test.equal(found.parts[1].role, nil)
  test.equal(text_of(found.parts[1].options), 'a_b=1 c.d=x=y e={"f":[1,2]} g=')
  test.equal(text_of(found.parts[1].environment), "A=0 B=x y")
  test.equal(read({ workers = 3 }).parts[1].engines, 3)
end)

test("split engines have parts of their own", function()
  local found = read(with(split, { options = "P: a=1;b=2 D: a=3", env = "P:  D: X=1" }))
  local prefill, decode = found.parts[1], found.parts[2]
  test.equal(prefill.role .. " " .. decode.role, "prefill decode")
  test.equal(prefill.engines .. " " .. decode.engines, "2 3")
  test.equal(widths_text(prefill.widths) .. " | " .. widths_text(decode.widths), "1 4 4 1 | 8 1 8 1")
  test.equal(text_of(prefill.options) .. " | " .. text_of(decode.options), "a=1 b=2 | a=3")
  test.equal(text_of(prefill.environment) .. " | " .. text_of(decode.environment), " | X=1")
  found = read(split)
  test.equal(#found.parts[1].options + #found.parts[2].environment, 0, "nothing is stated")
end)

test("the older names say the same", function()
  local found = read({ widths_tp_dp_moetp_moeep = "2,4,1,8" }, { older = true })
  test.equal(widths_text(found.parts[1].widths), "2 4 8 1")
  found = read({ mode = "pd", widths_tp_dp_moetp_moeep = "1,4,1,4;8,1,2,4", workers = "2P3D" }, { older = true })
  test.equal(found.parts[1].engines .. " " .. found.parts[2].engines, "2 3")
  test.equal(widths_text(found.parts[1].widths) .. " | " .. widths_text(found.parts[2].widths), "1 4 4 1 | 8 1 4 2")
  test.equal(read({ server_command = "vllm serve x" }, { older = true }).command, "vllm serve x")
end)

test("names and releases are texts, even if they read as numbers", function()
  local found = rows.read(write { { question = "007", engine_version = "0.10" }, { question = "7" },
    { question = "1e3" }, { question = "1000" } })
  local ids = {}
  for i, each in ipairs(found) do
    test.equal(each.problem, nil)
    ids[i] = each.id
  end
  test.equal(table.concat(ids, " "), "007 7 1e3 1000")
  test.equal(found[1].version, "0.10")
end)

test("measured times are seconds, and spaces and capitals of names mean nothing", function()
  local found = read { family = " Llama-3.1-8B ", engine = "VLLM", ttft_ms = 25, tpot_ms = 12.5 }
  test.equal(found.family .. " " .. found.engine, "llama-3.1-8b vllm")
  test.near(found.measured.ttft, 0.025, 1e-12)
  test.near(found.measured.tpot, 0.0125, 1e-12)
end)

test("a deployment is family, system, engine, format, mode, widths and drafts; the rest are its questions", function()
  local found = rows.read(write { {}, { engine_version = "0.9", isl = 900, clients = 7, options = "a=1" },
    { engine = "SGLang" }, { format = "FP8" }, { widths = "2,1,1" }, { speculation = "mtp" }, split })
  test.equal(found[1].key, "llama-3.1-8b|h100_sxm|vllm|bf16|agg:1,1,1")
  test.equal(found[2].key, found[1].key)
  test.equal(found[6].key, found[1].key .. "|mtp")
  test.equal(found[7].key, "llama-3.1-8b|h100_sxm|vllm|bf16|pd:P:1,4,4 D:8,1,8")
  local keys, count = {}, 0
  for _, each in ipairs(found) do
    count, keys[each.key] = count + (keys[each.key] and 0 or 1), true
  end
  test.equal(count, 6)
end)

test("settings that are not stated are of config none, if the row does not say what they are", function()
  test.equal(read({}).config, "none")
  test.equal(read({ options = "a=1" }).config, "exact")
  test.equal(read({ options = "a=1", config = "mixed" }).config, "mixed")
  test.equal(read({ server_command = "vllm serve x" }, { older = true }).config, "exact")
  test.equal(read({}, { older = true }).config, "none")
end)

test.finish()
