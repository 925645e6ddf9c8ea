#!/usr/bin/env bash
# Checks graph files with stock ONNX: run.sh distribution|current WRITE_GRAPHS WORK_FOLDER MODEL_FOLDER
#
# `distribution` is the module that the distribution packages for its own Python, `current` what the package index has,
# in an environment of its own under the work folder. Exit code 77, where the module cannot be had: skipped.
set -euo pipefail
which_onnx=$1 write_graphs=$2 work=$3 model=$4
here=$(dirname "$0")

"$write_graphs" "$work/graphs" "$model"/*.tagged
case $which_onnx in
  distribution) python=/usr/bin/python3 ;;
  current)
    python=$work/venv/bin/python
    if ! "$python" -c 'import onnx' 2>/dev/null; then
      python3 -m venv "$work/venv" && "$work/venv/bin/pip" install -q onnx || { echo "no current onnx here"; exit 77; }
    fi ;;
  *) exit 2 ;;
esac
exec "$python" "$here/check_onnx.py" "$work"/graphs/*.graph
