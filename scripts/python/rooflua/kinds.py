"""Keys of a scenario that take a policy, and the folders of scripts/ where its name is looked for."""

FOLDERS = {
    # generated: keys of policies
    "admission": "admission", "bucketing": "bucketing", "client": "clients", "corrections": "corrections",
    "disaggregation.decider": "deciders", "experts.balancer": "balancers", "faults": "faults", "metrics.*": "metrics",
    "mfu.lookup": "lookup", "plan.candidates": "candidates", "plan.day.autoscalers": "autoscalers",
    "plan.objective": "objectives", "plan.power": "power", "plan.strategy": "strategies",
    "replicas[].autoscaler": "autoscalers", "replicas[].mfu.lookup": "lookup", "replicas[].scheduler": "schedulers",
    "replicas[].speculation.acceptance": "acceptance", "replicas[].speculation.drafter": "drafters",
    "replicas[].speculation.speculator": "speculators", "replicas[].steps": "steps", "router": "routers",
    "scheduler": "schedulers", "speculation.acceptance": "acceptance", "speculation.drafter": "drafters",
    "speculation.speculator": "speculators", "steps": "steps", "tiers.policy": "tiers",
    "tiers.stores[].eviction": "eviction", "workload": "workloads",
    # end of keys of policies
}
