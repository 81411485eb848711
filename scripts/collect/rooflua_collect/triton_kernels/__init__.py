"""Our own kernels, for machines where no package brings one. Each row they time is first compared with a
float32 reference; tables.toml names them."""
