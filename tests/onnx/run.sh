#!/usr/bin/env bash
# The programs of tests/model as graph files, checked by stock ONNX: run.sh PYTHON WRITE_GRAPHS WORK_FOLDER MODEL_FOLDER
# Exit code 77, which ctest shows as skipped, if there is no such interpreter or it has no onnx module.
set -euo pipefail
python=$1 write_graphs=$2 work=$3 model=$4
command -v "$python" > /dev/null || { echo "there is no $python"; exit 77; }
"$write_graphs" "$work" "$model"/*.tagged
exec "$python" "$(dirname "$0")/check_onnx.py" "$work"/*.graph
