#!/bin/sh
# A graph on N processes of Open MPI: openmpi.sh N GRAPH KEY. Open MPI does not say where process 0 runs, so a file does, which all machines have to see.
set -eu
place=$(mktemp -d "${TMPDIR:-/tmp}/dfc-XXXXXX")
trap 'rm -rf "$place"' EXIT
mpirun -n "$1" dfc run "$2" --launched --key "$3" --rendezvous "$place/root" --threads 1
