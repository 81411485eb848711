-- The order of releases (rooflua.engines.release), as Python packages order them.
local test = dofile "tests/scripts/harness.lua"
local release = require "rooflua.engines.release"

--- Versions of the three projects in the order of their own packaging (PEP 440).
local ordered = { "0.1.dev19262", "0.4.6", "0.4.6.post1", "0.4.6.post5", "0.4.7", "0.4.9.post3", "0.4.10",
  "0.4.10.post2", "0.5.0rc0", "0.5.0rc2", "0.5.0", "0.5.1", "0.5.1.post1", "0.5.1.post3", "0.5.3rc2", "0.5.3",
  "0.5.3.post1", "0.5.6", "0.5.6.post2", "0.5.8", "0.5.8.post1", "0.5.9", "0.5.10rc0", "0.5.10", "0.5.10.post1",
  "0.5.14", "0.5.100", "0.6", "0.6.6.post1", "0.7.3", "0.8.0rc1", "0.8.5.post1", "0.9.0", "0.9.0.1", "0.9.2",
  "0.10.0", "0.10.1", "0.10.1.1", "0.10.2", "0.11.0rc2.dev12", "0.11.0rc2", "0.11.0rc3", "0.11.0", "0.11.0+cu128",
  "0.11.1.dev3", "0.11.1", "0.20.0", "1.0.0rc3", "1.0.0rc10", "1.0.0", "1.1.0rc2.post1", "1.1.0rc5", "1.2.0rc0",
  "1.2.0rc6", "1.2.0rc6.post1", "1.2.0", "1.3.0a1", "1.3.0b2", "1.3.0rc1", "1.3.0rc10", "1.3.0rc20", "1.3.0",
  "nightly-dev-20260216-d3bae71e", "nightly-20260301", "main" }

test("every version comes before all that stand after it, and after all in front of it", function()
  test.at_least(#ordered, 60)
  for i = 1, #ordered do
    for j = 1, #ordered do
      test.equal(release.earlier(ordered[i], ordered[j]), i < j, ordered[i] .. " before " .. ordered[j])
    end
  end
end)

test("sorting a shuffled list gives the order back", function()
  local shuffled, state = {}, 7
  for i, each in ipairs(ordered) do shuffled[i] = each end
  for i = #shuffled, 2, -1 do
    state = (state * 16807) % 2147483647
    local j = state % i + 1
    shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
  end
  table.sort(shuffled, release.earlier)
  test.equal(table.concat(shuffled, " "), table.concat(ordered, " "))
end)

test("one release has several spellings", function()
  for _, pair in ipairs { { "0.19", "0.19.0" }, { "v0.19.0", "0.19" }, { "1.3.0-rc10", "1.3.0rc10" },
    { "1.3.0.RC10", "1.3.0rc10" }, { "0.5.6-post2", "0.5.6.post2" }, { "1", "1.0.0" } } do
    test.check(release.same(pair[1], pair[2]), pair[1] .. " is " .. pair[2])
  end
end)

test("what is no release is none", function()
  for _, text in ipairs { "", "abc", "0.x", "0.19.", "vllm", "0.19 0.20", "..", "1.0foo2" } do
    test.equal(release.parse(text), nil, text)
  end
  test.raises("is no release", function() release.earlier("0.19", "abc") end)
end)

test("since is included, before is not", function()
  local row = { since = "0.5.9", before = "0.5.10" }
  for version, expected in pairs { ["0.5.8"] = false, ["0.5.9"] = true, ["0.5.9.post1"] = true, ["0.5.10rc0"] = true,
    ["0.5.10"] = false, ["0.6"] = false, nightly = false } do
    test.equal(release.holds(row, version), expected, version)
  end
  test.equal(release.holds({ since = "0.5.9" }, "nightly"), true)
end)

test.finish()
