-- Results in the formats of other tools, by the name of the format.
local core = require "rooflua.base.core"
local write_llm_d = require "rooflua.formats.write_llm_d"

local written = {}

--- name = function(variant, facts) that returns a document.
written.formats = { ["llm-d"] = write_llm_d.report }

--- Raises an error for a format that nothing writes.
function written.check(format)
  if not written.formats[format] then
    core.fail("--write: %s", core.unknown_name("format", format, core.sorted_keys(written.formats)))
  end
  return true
end

--- The document of one variant of a result.
--- @param format string
--- @param variant table of a result document
--- @param facts table {uid, build, scenario, title, seed}
function written.document(format, variant, facts)
  written.check(format)
  return written.formats[format](variant, facts)
end

return written
