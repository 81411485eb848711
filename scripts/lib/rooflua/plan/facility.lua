-- What stands around a GPU: the parameter that policies of power have in common.
local facility = {}

--- Declaration of `facility_factor`.
facility.factor = { default = 1.0, unit = "1", min = 1, max = 5,
  doc = "Host, network, cooling and losses, as a multiple of the GPU.",
  source = "InferenceX counts 1.73 kW per H100 with everything: 2.5 of its 700 W" }

return facility
