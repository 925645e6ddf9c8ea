#!/bin/sh
#SBATCH --job-name=dfc
#SBATCH --ntasks=4
#SBATCH --output=dfc-%j.out
# A graph on as many processes as Slurm gives: sbatch slurm.sh GRAPH KEY
set -eu
exec srun dfc run "$1" --launched --key "$2" --threads "${SLURM_CPUS_PER_TASK:-1}"
