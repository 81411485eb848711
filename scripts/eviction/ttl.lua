--- Content has a time to live from its last use; what expires first leaves first. Nothing leaves before room is needed.
--- With one time for all this is the order of last use: times differ by the class of the request that used the content.
local policy = require "rooflua.policy"

---@class eviction.Ttl: rooflua.Eviction
---@field ttl_s number
---@field class_ttl_s table<integer, number>
---@field from "use"|"put"
local Ttl = policy.define {
  name = "ttl",
  doc = "What expires first leaves first: a time to live from the last use, by class.",
  source = "own design; LMCache and Mooncake leases",
  params = {
    ttl_s = { default = 300, unit = "s", min = 0, doc = "Of classes without a time of their own.", source = "assumed",
      idle = { { class_ttl_s = {}, why = "one time for all is the order of the last use" }, { "one class" } } },
    class_ttl_s = { default = {}, unit = "s", doc = "Times of single classes, by number: { [1] = 3600 }.",
      source = "assumed", idle = { "one class" } },
    from = { default = "use", values = { "use", "put" }, doc = "Since when: the last use, or when it was stored.",
      source = "assumed" },
  },
}

--- Refuses what is no time of a class.
function Ttl:bind()
  for class, ttl_s in pairs(self.class_ttl_s) do
    if type(class) ~= "number" or type(ttl_s) ~= "number" or not (ttl_s >= 0 and ttl_s < math.huge) then
      error(("ttl.class_ttl_s: expected seconds by the number of a class, found %s = %s"):format(tostring(class),
        type(ttl_s) == "number" and tostring(ttl_s) or type(ttl_s)), 0)
    end
  end
end

---@param block rooflua.StoredBlock
---@return number key
function Ttl:key(block)
  local since_s = self.from == "put" and block.put_s or block.used_s
  return since_s + (self.class_ttl_s[block.class] or self.ttl_s)
end

return Ttl
