#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A run that resumes from job to job:  sbatch examples/slurm.sh examples/seismic.toml runs/shot [OPTION]...
# Submit it again, with as many tasks as you like, until the run has finished.
#SBATCH --ntasks=2
#SBATCH --time=01:00:00
#SBATCH --signal=B:TERM@300             # five minutes before the limit, for the checkpoint

case=$1 run=$2
shift 2
if [ -d "$run/checkpoints" ]; then
  exec ./tailrace resume "$run" -n "$SLURM_NTASKS"
fi
exec ./tailrace run "$case" --out "$run" -n "$SLURM_NTASKS" "$@"
