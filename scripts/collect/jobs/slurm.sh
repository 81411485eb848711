#!/bin/sh
# One GPU, one node, half an hour: sbatch scripts/collect/jobs/slurm.sh
# Partition, account and constraint depend on your site: give them to sbatch, for example
#   sbatch --partition=PARTITION --gres=gpu:1 --export=ALL,GPU=h100-sxm scripts/collect/jobs/slurm.sh
# Run it again to continue: rows that exist are not measured again.
#SBATCH --job-name=rooflua-collect
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=8
#SBATCH --gres=gpu:1
#SBATCH --mem=64G
#SBATCH --time=00:30:00
#SBATCH --signal=B:TERM@60
#SBATCH --output=rooflua-collect-%j.log
# B: the signal goes to this script, which is the collector after the exec below, and not to job steps.
set -eu
cd "${SLURM_SUBMIT_DIR:-.}"
# PYTHON: a Python with PyTorch. The budget leaves time to close the tables before the limit.
exec "${PYTHON:-python3}" scripts/collect/collect.py \
  --gpu "${GPU:-h200-sxm}" --out "${OUT:-bench_data}" --budget-s "${BUDGET_S:-1500}"
