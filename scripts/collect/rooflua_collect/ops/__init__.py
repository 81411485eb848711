"""The op families: each module offers `kernels(bench, table, variant)` and, where a table mixes kernels,
`variant(case)`."""
