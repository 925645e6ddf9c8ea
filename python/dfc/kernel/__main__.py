"""`python -m dfc.kernel`: the kernel itself, or with `install` its entry among Jupyter's kernels."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile


def install(words: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m dfc.kernel install", description="Makes the kernel known to Jupyter.")
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--user", action="store_true", help="for this user, in every environment")
    place.add_argument("--prefix", help="below this folder; default: this environment")
    parser.add_argument("--name", default="dfc")
    args = parser.parse_args(words)
    from jupyter_client.kernelspec import KernelSpecManager

    spec = {"argv": [sys.executable, "-m", "dfc.kernel", "-f", "{connection_file}"], "display_name": "dfc", "language": "haskell", "interrupt_mode": "signal"}
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "kernel.json"), "w", encoding="utf-8") as file:
            json.dump(spec, file, indent=1)
        print(KernelSpecManager().install_kernel_spec(folder, args.name, user=args.user, prefix=None if args.user else args.prefix or sys.prefix))


def main() -> None:
    if sys.argv[1:2] == ["install"]:
        install(sys.argv[2:])
        return
    from ipykernel.kernelapp import IPKernelApp

    from .kernel import DfcKernel

    IPKernelApp.launch_instance(kernel_class=DfcKernel)


if __name__ == "__main__":
    main()
