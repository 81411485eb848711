-- A value of a YAML document that knows its place and what of it was read, so that every key is accounted for.
local core = require "rooflua.base.core"
local documents = require "rooflua.engines.documents"
local holes = require "rooflua.manifests.holes"
local json = require "rooflua.json"
local native = require "rooflua.native"
local secrets = require "rooflua.startup.secrets"
local texts = require "rooflua.engines.launch.texts"

local node = {}

--- Keys below which nothing changes what a simulation says: names, probes, networks, rights, disks.
local idle = core.set { "apiVersion", "metadata", "name", "namespace", "labels", "annotations", "selector", "ports",
  "livenessProbe", "readinessProbe", "startupProbe", "imagePullPolicy", "imagePullSecrets", "serviceAccountName",
  "serviceAccount", "restartPolicy", "terminationGracePeriodSeconds", "strategy", "updateStrategy", "rolloutStrategy",
  "revisionHistoryLimit", "progressDeadlineSeconds", "minReadySeconds", "tolerations", "volumes", "volumeMounts",
  "volumeClaimTemplates", "securityContext", "podSecurityContext", "status", "backoffLimit", "completionMode",
  "ttlSecondsAfterFinished", "dnsPolicy", "hostIPC", "hostNetwork", "serviceName", "podManagementPolicy", "lifecycle",
  "networkConfig", "startupPolicy", "restart", "container_name", "networks", "network_mode", "depends_on", "ipc",
  "shm_size", "sharedMemory", "logging", "healthcheck", "ulimits", "expose", "secrets", "x-kubernetes", "version",
  "terminationMessagePolicy", "workingDir", "working_dir", "stdin", "tty", "schedulerName", "dynamoNamespace", "cpu",
  "memory", "ephemeral-storage", "rdma/ib", "driver", "capabilities", "privileged", "runtime", "pull_policy", "user",
  "hostname", "authSecretName", "size", "mountModelVolume", "envFromSecret", "pvc", "pvcs", "gateway", "route" }

local Node = {}
Node.__index = Node

local function new(document, value, path) return setmetatable({ document = document, value = value, path = path }, Node) end

--- The node of a whole document of native.yaml_documents.
function node.of(document)
  document.taken = {}
  return new(document, document.value, "")
end

local function is_given(value) return value ~= nil and value ~= json.null end

--- The node below keys, one after the other; nil where there is none.
function Node:at(...)
  local found = self
  for _, key in ipairs { ... } do
    if not documents.is_map(found.value) then return nil end
    local value = found.value[key]
    if not is_given(value) then return nil end
    found = new(self.document, value, found.path == "" and key or found.path .. "." .. key)
  end
  return found
end

--- Counts the node, with all below it, as read.
---@param means string? what it says
---@param text string? in place of its text
function Node:take(means, text)
  self.document.taken[self.path] = { means = means or "read", text = text }
  return self.value
end

local function scalar_text(value)
  if type(value) == "table" or not is_given(value) then return nil end
  return holes.templates(texts.word(value))
end

--- The node itself as a text; nil for maps and lists.
function Node:word(means)
  local text = scalar_text(self.value)
  if text then self:take(means) end
  return text
end

--- The text of a plain value below keys; nil where there is none.
function Node:text(...)
  local found = self:at(...)
  return found and found:word()
end

--- The whole number below keys; nil where there is none. One that is not given, or no number, is told.
function Node:count(...)
  local found = self:at(...)
  local text = found and found:word()
  if not text then return nil end
  local number = text:find "^%d+$" and tonumber(text)
  if number and number <= 2 ^ 31 then return number end
  local told = self.document.told
  told[#told + 1] = ("%s: %s is no whole number that is given"):format(found.path, holes.shown(text))
end

--- The nodes of a list below keys; of a map its pairs are {key, node}.
function Node:list(...)
  local found, out = self:at(...), {}
  if not found or type(found.value) ~= "table" or documents.is_map(found.value) then return out end
  for i, each in ipairs(found.value) do out[i] = new(self.document, each, ("%s[%d]"):format(found.path, i)) end
  return out
end

--- {key, node} of a map below keys, sorted by key.
function Node:pairs(...)
  local found, out = self:at(...), {}
  if not found or not documents.is_map(found.value) then return out end
  for key in core.sorted_pairs(found.value) do
    local child = found:at(key)
    if child then out[#out + 1] = { key, child } end
  end
  return out
end

--- Plain values of a list below keys as texts. A single text is one of them.
function Node:words(...)
  local found, out = self:at(...), {}
  if not found then return out end
  if type(found.value) ~= "table" then return { found:word() } end
  for i, each in ipairs(found:list()) do out[i] = scalar_text(each.value) or json.encode(each.value) end
  found:take("words of a command", secrets.masked(holes.shown(core.join(out, " ")), 200))
  return out
end

function Node:line() return self.document.lines[self.path] end

--- The last two names of a path.
local function last_of(path)
  local plain = path:gsub("%[%d+%]", "")
  return plain:match "([^.]+%.[^.]+)$" or plain
end

--- Adds every plain value of a document to a record: what was read with its meaning, what has no effect, the rest.
---@param record table {read, unread, understood, not_understood, later}
function node.account(root, record)
  local document, prefix = root.document, root.document.prefix or ""
  local function line_of(path) return (document.lines[path] or 0) end
  local function visit(each, is_idle)
    local taken = document.taken[each.path]
    local shown = type(each.value) ~= "table" and holes.shown(tostring(each.value)) or ""
    local text = secrets.masked(("%s%s: %s"):format(prefix, each.path, native.printable(shown)), 200)
    if taken then
      record.understood = record.understood + 1
      record.read[#record.read + 1] = { line = line_of(each.path), means = taken.means,
        text = taken.text and ("%s%s: %s"):format(prefix, each.path, taken.text) or text }
      return
    end
    if type(each.value) == "table" and each.value ~= json.null then
      for _, pair in ipairs(each:pairs()) do visit(pair[2], is_idle or idle[pair[1]] or false) end
      for _, item in ipairs(each:list()) do visit(item, is_idle) end
    elseif is_idle then
      record.later = record.later + 1
    elseif is_given(each.value) then
      record.not_understood = record.not_understood + 1
      record.unread[#record.unread + 1] = { line = line_of(each.path), text = text, name = last_of(each.path) }
    end
  end
  visit(root, false)
end

return node
