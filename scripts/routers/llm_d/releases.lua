--- What releases of llm-d's router did that the newest one does no longer, by the day of a run. Days are those of the
--- releases; parameters are those of routers/llm_d.lua.
local releases = {}

local early = {
  { before = "2026-01-01", index = "approximate",
    -- Blocks were 64 characters, which are 16 tokens of 4 characters, and 256 of them were looked at.
    source = "gateway-api-inference-extension pkg/epp/scheduling/framework/plugins/multi/prefix/plugin.go",
    set = { block_tokens = 16, max_prefix_tokens = 256 * 16 } },
  { before = "2026-06-23", index = "precise",
    -- Until 0.8 the score was between the least and the most of the candidates.
    source = "llm-d-inference-scheduler 0.8 preciseprefixcache/precise_prefix_cache.go; the share since e6f6b84f",
    set = { prefix_score = "relative" } },
}

--- For so long llm-d's own configurations believe what was sent, since 0.7.
--- llm-d guides/precise-prefix-cache-routing/router: speculativeIndexing = true; 4cd7046e: speculativeTTL = 2 s
releases.guide_speculative_ttl_s = 2
releases.speculates_since = "2026-03-31"

--- @param day string "2025-09-30"; "": of the newest release
--- @param index string "approximate" or "precise"
--- @return table parameters of routers.llm_d
function releases.of(day, index)
  local out = {}
  for _, each in ipairs(early) do
    if day ~= "" and day < each.before and each.index == index then
      for name, value in pairs(each.set) do out[name] = value end
    end
  end
  return out
end

return releases
