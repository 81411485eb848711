--- An Indexed Job of Kubernetes. Results go to a claim that all pods write, or as lines into their logs.
local policy = require "rooflua.policy"

local Kubernetes = policy.define {
  name = "kubernetes",
  doc = "An Indexed Job: a pod per shard. The scenario is a ConfigMap in the manifest.",
  source = "kubernetes.io, Jobs: completion mode, backoff limit per index",
  params = {
    image = { default = "", doc = "An image with the program; required." },
    namespace = { default = "", doc = "Namespace of the job; \"\": that of kubectl." },
    claim = { default = "", doc = "A claim (ReadWriteMany) for the results; \"\": they are lines in the pods' logs." },
    most = { default = 0, integer = true, min = 0, doc = "Pods at once; 0: as many as shards." },
    memory = { default = "2Gi", doc = "Memory of a pod, requested and the limit." },
    user = { default = 1000, integer = true, min = 1, doc = "User id in the pods, not root." },
    program = { default = "rooflua", doc = "The program in the image." },
  },
}

local most_text = 900000 -- bytes: a ConfigMap has at most 1 MiB

local function namespace_line(self, campaign)
  return self.namespace ~= "" and "  namespace: " .. campaign.yaml(self.namespace) .. "\n" or ""
end

--- The option of kubectl.
local function space_of(self, campaign)
  return self.namespace ~= "" and " -n " .. campaign.quoted(self.namespace) or ""
end

--- The files of the scenario as a ConfigMap, whose keys know no folders: a list says where each belongs.
local function config_map(self, campaign, read)
  local quoted, size = campaign.yaml, 0
  local lines, items = { "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " .. quoted(campaign.name) .. "\n"
    .. namespace_line(self, campaign) .. "data:\n" }, {}
  for i, file in ipairs(campaign.files) do
    if file.copy_of then
      local text = read(file.copy_of)
      size = size + #text
      local block = campaign.yaml_block(text, 4)
      if not block then
        error(("--on kubernetes: %s is no text (UTF-8), which a ConfigMap cannot hold; put the file into the image")
          :format(file.copy_of), 0)
      end
      lines[#lines + 1] = ("  file%d: %s\n"):format(i, block)
      items[#items + 1] = ("              - { key: file%d, path: %s }\n"):format(i, quoted(file.name:sub(10)))
    end
  end
  if size > most_text then
    error(("the scenario's files have %d bytes, and a ConfigMap at most %d; put large traces into the image")
      :format(size, most_text), 0)
  end
  return table.concat(lines), table.concat(items)
end

local function body(self, campaign)
  local places = { program = self.program, scenario = "/scenario", results = "/results" }
  local run = campaign:run("auto/" .. campaign.shards, places)
  local enter = campaign:enter(places)
  if self.claim ~= "" then return enter .. " && exec " .. run end
  -- The lines are printed whatever became of the run, and the pod ends as it did.
  return enter .. " && " .. run .. "; status=$?; echo BEGIN ROOFLUA RESULTS; " .. campaign.quoted(self.program)
    .. " results export /results --format jsonl; echo END ROOFLUA RESULTS; exit $status"
end

--- What fetches the results of the pods and joins them.
local function merge_of(self, campaign, space, dir)
  local fetch = self.claim ~= "" and "# Run this where the claim is mounted, with its folder as the only argument.\n"
      .. 'cp "$1"/*.sqlite ' .. dir .. "/results/\n"
    or ("for pod in $(kubectl%s get pods -l job-name=%s -o name); do\n  kubectl%s logs \"$pod\" > %s/logs/"
      .. "\"${pod#pod/}\".log\ndone\n"):format(space, campaign.name, space, dir)
  return campaign:merge("# Fetches what the pods have, and joins it; may run at any time.\n" .. fetch,
    self.claim == "" and dir .. "/logs/*.log" or nil)
end

function Kubernetes:write(campaign)
  if campaign.rounds then
    error("--on kubernetes: a search or plan in rounds needs the results of earlier rounds in every shard, and pods "
      .. "do not see the campaign's folder; `campaign submit` does the whole search in one pod, or give another "
      .. "engine", 0)
  end
  if self.image == "" then error("campaigns.kubernetes: image: --site must name an image with the program", 0) end
  local quoted = campaign.yaml
  local map, items = config_map(self, campaign, campaign.text_of)
  local volume = self.claim ~= "" and "persistentVolumeClaim: { claimName: " .. quoted(self.claim) .. " }"
    or "emptyDir: {}"
  local cpu = tostring(campaign.jobs)
  local most = self.most > 0 and math.min(self.most, campaign.shards) or campaign.shards
  local manifest = map .. ([[
---
apiVersion: batch/v1
kind: Job
metadata:
  name: %s
%sspec:
  completionMode: Indexed
  completions: %d
  parallelism: %d
  backoffLimitPerIndex: 3
  maxFailedIndexes: %d
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 60
      securityContext: { runAsNonRoot: true, runAsUser: %d, runAsGroup: %d, fsGroup: %d }
      containers:
        - name: shard
          image: %s
          command: ["sh", "-c", %s]
          resources:
            requests: { cpu: "%s", memory: %s }
            limits: { cpu: "%s", memory: %s }
          volumeMounts:
            - { name: scenario, mountPath: /scenario, readOnly: true }
            - { name: results, mountPath: /results }
      volumes:
        - name: scenario
          configMap:
            name: %s
            items:
%s        - name: results
          %s
]]):format(quoted(campaign.name), namespace_line(self, campaign), campaign.shards, most,
    campaign.shards, self.user, self.user, self.user, quoted(self.image),
    quoted(campaign.container(body(self, campaign))), cpu, quoted(self.memory), cpu, quoted(self.memory),
    quoted(campaign.name), items, volume)
  local space = space_of(self, campaign)
  local dir = campaign.quoted(campaign.dir)
  local run = ([[
#!/bin/sh
# Does the shards and waits for their end.
set -e
kubectl%s delete --ignore-not-found job %s
kubectl%s apply -f %s/job.yaml
until kubectl%s get job %s -o 'jsonpath={.status.conditions[*].type}' | grep -q 'Complete\|Failed'; do sleep 5; done
]]):format(space, campaign.name, space, dir, space, campaign.name)
  return { ["job.yaml"] = manifest, ["merge.sh"] = merge_of(self, campaign, space, dir), ["run.sh"] = run,
    ["submit.sh"] = ([[
#!/bin/sh
# Options go to kubectl.
kubectl%s apply "$@" -f %s/job.yaml
]]):format(space, dir) }
end

function Kubernetes:again(campaign)
  return ("An index that failed is tried three times by itself. Then delete the job and submit it again:\n\n"
    .. "    kubectl%s delete job %s && sh %s"):format(space_of(self, campaign), campaign.name,
    campaign.quoted(campaign.dir .. "/submit.sh"))
end

return Kubernetes
