-- Kubernetes manifests of a deployment: one Deployment per role, and a Service in front of it. Routing between replicas
-- and roles is the cluster's own.
local kubernetes = {}

local function quoted(text) return "'" .. text:gsub("'", "''") .. "'" end

--- A Deployment and its Service.
---@param about table {name, replicas, gpus, image, command (list), args (list), port, files}
local function manifest(about)
  local out = {}
  local function add(...) out[#out + 1] = string.format(...) end
  add "apiVersion: apps/v1"
  add "kind: Deployment"
  add "metadata:"
  add("  name: %s", about.name)
  add "spec:"
  add("  replicas: %d", about.replicas)
  add "  selector:"
  add("    matchLabels: {app: %s}", about.name)
  add "  template:"
  add "    metadata:"
  add("      labels: {app: %s}", about.name)
  add "    spec:"
  add "      containers:"
  add "      - name: engine"
  add("        image: %s", about.image)
  add("        command: [%s]", table.concat(about.command, ", "))
  add "        args:"
  for _, word in ipairs(about.args) do add("        - %s", quoted(word)) end
  add "        ports:"
  add("        - containerPort: %d", about.port)
  add "        readinessProbe:"
  add("          httpGet: {path: /health, port: %d}", about.port)
  add "          periodSeconds: 10"
  add "          failureThreshold: 180"
  add "        resources:"
  add("          limits: {nvidia.com/gpu: %d}", about.gpus)
  add "        volumeMounts:"
  add "        - {name: shm, mountPath: /dev/shm}"
  if about.config then add "        - {name: options, mountPath: /options}" end
  add "      volumes:"
  add "      - name: shm"
  add "        emptyDir: {medium: Memory}"
  if about.config then
    add "      - name: options"
    add("        configMap: {name: %s}", about.name)
  end
  add "---"
  add "apiVersion: v1"
  add "kind: Service"
  add "metadata:"
  add("  name: %s", about.name)
  add "spec:"
  add("  selector: {app: %s}", about.name)
  add "  ports:"
  add("  - {port: %d, targetPort: %d}", about.port, about.port)
  if about.config then
    add "---"
    add "apiVersion: v1"
    add "kind: ConfigMap"
    add "metadata:"
    add("  name: %s", about.name)
    add "data:"
    add "  options.yaml: |"
    for line in about.config:gmatch "[^\n]+" do add("    %s", line) end
  end
  return table.concat(out, "\n") .. "\n"
end

--- Manifests of every role, one behind the other.
function kubernetes.text(list)
  local parts = {}
  for i, each in ipairs(list) do parts[i] = manifest(each) end
  return table.concat(parts, "---\n")
end

return kubernetes
