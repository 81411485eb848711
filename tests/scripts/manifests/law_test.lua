-- Law of manifests: what is written of a cluster reads as the same cluster, in every form. ROOFLUA_CLUSTERS says how
-- many of each form; else a few dozen.
local test = dofile "tests/scripts/harness.lua"
local clusters = dofile "tests/scripts/manifests/clusters.lua"
local deployment = require "rooflua.startup.deployment"
local forms = require "rooflua.manifests.forms"
local written = require "rooflua.program.manifests"

local count = tonumber(os.getenv "ROOFLUA_CLUSTERS" or 40)

for _, form in ipairs(forms.names) do
  test(("%d clusters are read as they are written in the form %s"):format(count, form), function()
    test.needs_yaml()
    local refused = 0
    for i = 1, count do
      local own = clusters.drawn(form)
      local expected = clusters.text(own.parts, own.router)
      local ok, text = pcall(written.text, form, own, "cluster")
      local is_refused = not ok and text:find("--as " .. form, 1, true)
      test.check(ok or is_refused, "%d: %s", i, tostring(text))
      if is_refused then
        refused = refused + 1
      else
        local path = test.file("manifest", text)
        local is_read, found = pcall(deployment.of, { from = { path } })
        test.check(is_read, "%d: %s\n%s", i, tostring(found), text)
        local router = found.cluster.router
        test.equal(clusters.text(found.cluster.engines, router and router.name), expected, ("%d\n%s"):format(i, text))
        for _, sentence in ipairs(found.told) do
          test.check(sentence:find "^the files start" or sentence:find "no effect", "%d: %s\n%s", i, sentence, text)
        end
      end
    end
    test.check(refused <= count / 2, "%d of %d clusters are refused", refused, count)
  end)
end

test.finish()
