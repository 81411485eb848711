"""Fills bench_data/<gpu>/ on a machine with a GPU (docs/DATA.md, "Measuring")."""
