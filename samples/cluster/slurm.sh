#!/bin/sh
#SBATCH --job-name=dfc
#SBATCH --ntasks=4
#SBATCH --no-kill
#SBATCH --output=dfc-%j.out
# A graph on as many processes as Slurm gives: sbatch slurm.sh GRAPH KEY
#
# Whoever is lost, a process or a node, is missed by nobody: the rest goes on and the result is the same. srun ends with its exit code all the same.
set -eu
exec srun --kill-on-bad-exit=0 --no-kill --wait=0 dfc run "$1" --launched --key "$2" --threads "${SLURM_CPUS_PER_TASK:-1}"
