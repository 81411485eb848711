-- Kubernetes manifests of a deployment: one Deployment per role, and a Service in front of it. Routing between replicas
-- and roles is the cluster's own.
local quoting = require "rooflua.text.quoting"

local kubernetes = {}

--- A word that stands for the model where its name is not known: a variable of the container.
kubernetes.model = {}

local function argument(word) return word == kubernetes.model and "$(MODEL)" or quoting.container(word) end

--- A Deployment and its Service.
---@param about table {name, replicas, gpus, image, words (of the command), command_words (how many are its program),
---  port, asks_for_model, config, variables = {{name, value}}, gpu = {label, value, resource} of manifests/gpus.lua}
local function manifest(about)
  local out, name, command = {}, quoting.yaml(about.name), {}
  local function add(...) out[#out + 1] = string.format(...) end
  for i = 1, about.command_words do command[i] = argument(about.words[i]) end
  add "apiVersion: apps/v1"
  add "kind: Deployment"
  add "metadata:"
  add("  name: %s", name)
  add "spec:"
  add("  replicas: %d", about.replicas)
  add "  selector:"
  add("    matchLabels: {app: %s}", name)
  add "  template:"
  add "    metadata:"
  add("      labels: {app: %s}", name)
  add "    spec:"
  local gpu = about.gpu or {}
  if gpu.value then add("      nodeSelector: {%s: %s}", gpu.label, quoting.yaml(gpu.value)) end
  add "      containers:"
  add "      - name: engine"
  add("        image: %s", quoting.yaml(about.image))
  add("        command: %s", quoting.yaml_list(command))
  add "        args:"
  for i = about.command_words + 1, #about.words do add("        - %s", quoting.yaml(argument(about.words[i]))) end
  local variables = about.variables or {}
  if about.asks_for_model or #variables > 0 then add "        env:" end
  for _, each in ipairs(variables) do
    add("        - {name: %s, value: %s}", quoting.yaml(each[1]), quoting.yaml(quoting.container(each[2])))
  end
  if about.asks_for_model then
    add "        - {name: MODEL, value: ''} # the Hugging Face name or the folder of the model"
  end
  add "        ports:"
  add("        - containerPort: %d", about.port)
  add "        readinessProbe:"
  add("          httpGet: {path: /health, port: %d}", about.port)
  add "          periodSeconds: 10"
  add "          failureThreshold: 180"
  add "        resources:"
  add("          limits: {%s: %d}", gpu.resource or "nvidia.com/gpu", about.gpus)
  add "        volumeMounts:"
  add "        - {name: shm, mountPath: /dev/shm}"
  if about.config then add "        - {name: options, mountPath: /options}" end
  add "      volumes:"
  add "      - name: shm"
  add "        emptyDir: {medium: Memory}"
  if about.config then
    add "      - name: options"
    add("        configMap: {name: %s}", name)
  end
  add "---"
  add "apiVersion: v1"
  add "kind: Service"
  add "metadata:"
  add("  name: %s", name)
  add "spec:"
  add("  selector: {app: %s}", name)
  add "  ports:"
  add("  - {port: %d, targetPort: %d}", about.port, about.port)
  if about.config then
    add "---"
    add "apiVersion: v1"
    add "kind: ConfigMap"
    add "metadata:"
    add("  name: %s", name)
    add "data:"
    add("  options.yaml: %s", quoting.yaml_block(about.config, 4))
  end
  return table.concat(out, "\n") .. "\n"
end

--- Manifests of every role, one after the other.
function kubernetes.text(list)
  local parts = {}
  for i, each in ipairs(list) do parts[i] = manifest(each) end
  return table.concat(parts, "---\n")
end

return kubernetes
