"""rooflua's own kernels, for machines without a package that has one. Each row is first compared with a float32
reference; tables.toml names the kernel."""
