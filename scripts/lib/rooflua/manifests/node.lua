-- A value of a YAML document that knows its place and what of it was read, so that every key is accounted for.
local core = require "rooflua.base.core"
local documents = require "rooflua.engines.documents"
local holes = require "rooflua.manifests.holes"
local json = require "rooflua.json"
local native = require "rooflua.native"
local secrets = require "rooflua.text.secrets"
local texts = require "rooflua.engines.launch.texts"

local node = {}

--- Keys below which nothing changes what a simulation says: names, probes, networks, rights, disks.
local idle = {}
for word in ([[apiVersion metadata name namespace labels annotations selector ports livenessProbe readinessProbe
  startupProbe imagePullPolicy imagePullSecrets serviceAccountName serviceAccount restartPolicy strategy updateStrategy
  terminationGracePeriodSeconds rolloutStrategy revisionHistoryLimit progressDeadlineSeconds minReadySeconds tolerations
  volumes volumeMounts volumeClaimTemplates securityContext podSecurityContext status backoffLimit completionMode
  ttlSecondsAfterFinished dnsPolicy hostIPC hostNetwork serviceName podManagementPolicy lifecycle networkConfig
  startupPolicy restart container_name networks network_mode depends_on ipc shm_size sharedMemory logging healthcheck
  ulimits expose secrets version terminationMessagePolicy workingDir working_dir stdin tty schedulerName
  dynamoNamespace cpu memory ephemeral-storage driver capabilities privileged runtime pull_policy user hostname
  authSecretName size mountModelVolume envFromSecret pvc gateway route configs
  accelerator servicePort proxy   backendFramework]]):gmatch "%S+" do idle[word] = true end

local longest_path, longest_text = 1000, 131072 -- bytes; a longer word starts no program on Linux

local Node = {}
Node.__index = Node

local function new(document, value, path)
  if #path > longest_path then core.fail("a value at a path of more than %d bytes", longest_path) end
  return setmetatable({ document = document, value = value, path = path }, Node)
end

--- The node of a whole document of native.yaml_documents, to which {told, prefix} were added.
function node.of(document)
  document.taken = {}
  return new(document, document.value, "")
end

--- The node below keys, one after the other; nil where there is none.
function Node:at(...)
  local found = self
  for _, key in ipairs { ... } do
    local value = documents.is_map(found.value) and found.value[key]
    if value == nil or value == json.null or not documents.is_map(found.value) then return nil end
    found = new(self.document, value, found.path == "" and key or found.path .. "." .. key)
  end
  return found
end

function Node:line() return self.document.lines[self.path] or 0 end

--- Counts the node, with all below it, as read.
---@param shown string? in place of its text
function Node:take(shown) self.document.taken[self.path] = shown or true end

local function scalar(value)
  if type(value) == "table" or value == nil or value == json.null then return nil end
  local text = texts.word(value)
  return #text <= longest_text and holes.templates(text) or holes.of(("a text of %d bytes"):format(#text))
end

--- The plain value below keys as a text; nil where there is none.
function Node:text(...)
  local found = self:at(...)
  local text = found and scalar(found.value)
  if text then found:take() end
  return text
end

--- The whole number below keys; nil where there is none. What is no number, or is not given, is told.
function Node:count(...)
  local text, told = self:text(...), self.document.told
  local number = text and #text < 10 and text:find "^%d+$" and tonumber(text) or nil
  if text and not number then
    told[#told + 1] = ("%s: %s is no whole number that is given"):format(self:at(...).path, holes.shown(text))
  end
  return number
end

--- The nodes of a list below keys.
function Node:list(...)
  local found, out = self:at(...), {}
  if not found or type(found.value) ~= "table" or documents.is_map(found.value) then return out end
  for i, each in ipairs(found.value) do out[i] = new(self.document, each, ("%s[%d]"):format(found.path, i)) end
  return out
end

--- {key, node} of a map below keys, sorted by key.
function Node:pairs(...)
  local found, out = self:at(...), {}
  for key in core.sorted_pairs(found and documents.is_map(found.value) and found.value or {}) do
    local child = found:at(key)
    if child then out[#out + 1] = { key, child } end
  end
  return out
end

--- Plain values of a list below keys as texts; a single text is one of them.
function Node:words(...)
  local found, out = self:at(...), {}
  if not found then return out end
  out[1] = scalar(found.value)
  for i, each in ipairs(found:list()) do out[i] = scalar(each.value) or holes.of "an item that is no text" end
  found:take(secrets.masked(holes.shown(core.join(out, " ")), 200))
  return out
end

--- Adds every plain value of a document to a record: what was read, what has no effect, and the rest.
---@param record table {read, unread, understood, not_understood, later}
function node.account(root, record)
  local document = root.document
  local function visit(each, is_idle)
    local taken, value = document.taken[each.path], each.value
    local children = each:pairs()
    for _, item in ipairs(each:list()) do children[#children + 1] = { "", item } end
    local shown = type(taken) == "string" and taken or #children == 0 and holes.shown(tostring(value)) or "..."
    local entry = { line = each:line(), means = "read", name = each.path:gsub("%[%d+%]", ""):match "[^.]*%.?[^.]*$",
      text = secrets.masked(("%s%s: %s"):format(document.prefix, each.path, native.printable(shown)), 200) }
    if taken then
      record.understood, record.read[#record.read + 1] = record.understood + 1, entry
    elseif #children > 0 then
      for _, pair in ipairs(children) do
        visit(pair[2], is_idle or idle[pair[1]] or pair[1]:find "^x%-" or pair[1]:find "^rdma/")
      end
    elseif is_idle or type(value) == "table" then
      record.later = record.later + 1
    else
      record.not_understood, record.unread[#record.unread + 1] = record.not_understood + 1, entry
    end
  end
  visit(root, false)
end

return node
