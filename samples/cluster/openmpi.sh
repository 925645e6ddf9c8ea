#!/bin/sh
# A graph on N processes of Open MPI: openmpi.sh N GRAPH KEY. Open MPI does not say where process 0 runs, so a file does, which all machines have to see.
# --enable-recovery: whoever is lost is missed by nobody; without it mpirun ends all the others.
set -eu
place=$(mktemp -d "${TMPDIR:-/tmp}/dfc-XXXXXX")
trap 'rm -rf "$place"' EXIT
mpirun --enable-recovery -n "$1" dfc run "$2" --launched --key "$3" --rendezvous "$place/root" --threads 1
