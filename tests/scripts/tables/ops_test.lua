-- What rooflua.mfu says of ops and number formats is what the engine declares, and so do the documents.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local mfu = rooflua.mfu

test("every op and every field of it is in the table of docs/LUA_API.md", function()
  local documented = {}
  for line in io.lines "docs/LUA_API.md" do
    local op, fields = line:match "^| ([%w_]+) | ([^|]+) |$"
    if op then documented[op] = fields end
  end
  local compared = 0
  for _, op in ipairs(mfu.ops()) do
    test.check(documented[op.name], op.name .. " has no row")
    for _, field in ipairs(op.fields) do
      local found = documented[op.name] and documented[op.name]:find("%f[%w_]" .. field.name .. "%f[^%w_]")
      test.check(found, ("%s: no field %s"):format(op.name, field.name))
      compared = compared + 1
    end
  end
  test.check(compared > 40, "only " .. compared .. " fields were compared")
end)

test("an op knows its own fields and no others", function()
  local db = mfu.open "h200-sxm"
  for _, op in ipairs(mfu.ops()) do
    test.raises("unknown field 'no_such_field'", function() db:lookup { op = op.name, no_such_field = 1 } end)
    for _, field in ipairs(op.fields) do
      if field.kind == "number" then
        test.raises(field.name .. ": expected a number", function() db:lookup { op = op.name, [field.name] = "1" } end)
      elseif field.kind == "word" then
        test.raises("unknown name 'x'", function() db:lookup { op = op.name, [field.name] = "x" } end)
      end
    end
  end
end)

test("a field that is left out has its declared default", function()
  local db = mfu.open "h200-sxm"
  local question = { op = "attention_decode", heads = 32, kv_heads = 8, head_dim = 128, context_tokens = 1000 }
  local alone = select(2, db:lookup(question)).latency_s
  question.tp, question.batch = 1, 1
  test.equal(select(2, db:lookup(question)).latency_s, alone)
end)

test("formats say their bits and their spellings", function()
  local bits, by_spelling = {}, {}
  for _, format in ipairs(mfu.formats()) do
    bits[format.name] = format.bits
    for _, spelling in ipairs(format.spellings) do by_spelling[spelling] = format.name end
  end
  test.equal(bits.bf16, 16)
  test.equal(bits.fp8, 8)
  test.equal(bits.int4, 4)
  test.equal(by_spelling.float8_e4m3fn, "fp8")
  test.equal(by_spelling.half, "fp16")
end)

test.finish()
