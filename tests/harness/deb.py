#!/usr/bin/env python3
"""The Debian package: made by CPack, unpacked into a clean folder, used from there.

    deb.py --build build [--keep DIR]

Its dependencies are those that its files need, its program runs without the source tree, libdfc is there for other programs, and it holds the manual page, the completions and the licences.
"""

import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def run(*words, **kw):
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, **kw)
    if done.returncode:
        sys.exit("%s: exit code %d\n%s%s" % (" ".join(words), done.returncode, done.stdout, done.stderr))
    return done.stdout


def expect(what, good):
    if not good:
        sys.exit("not so: " + what)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--keep", help="where the package is to be left")
    args = parser.parse_args()
    if not all(map(shutil.which, ("cpack", "dpkg-deb", "dpkg-shlibdeps"))):
        print("skipped: CPack makes Debian packages where dpkg-dev is")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        run("cpack", "-G", "DEB", "-B", folder, cwd=args.build)
        (package,) = glob.glob(os.path.join(folder, "*.deb"))
        fields = dict(re.findall(r"^ ?(\S+): (.*)$", run("dpkg-deb", "-I", package), re.M))
        for name in ("libc6", "libgmp10", "libfmt", "libstdc++6", "libprotobuf-lite"):
            expect("the package depends on %s: %s" % (name, fields["Depends"]), re.search(r"\b%s" % re.escape(name), fields["Depends"]))
        expect("it recommends libzmq5", "libzmq5" in fields["Recommends"])
        root = os.path.join(folder, "root")
        run("dpkg-deb", "-x", package, root)
        work = os.path.join(folder, "work")
        os.mkdir(work)
        # Nothing of the source tree is in reach.
        clean = {"PATH": os.path.join(root, "usr/bin") + ":/usr/bin:/bin", "MANPATH": os.path.join(root, "usr/share/man")}
        shutil.copy(os.path.join(ROOT, "samples/fact.df"), work)
        run("dfc", "fact.df", "-o", "fact.graph", cwd=work, env=clean)
        expect("the program of the package runs", run("dfc", "run", "fact.graph", cwd=work, env=clean) == "3628800\n")
        for line in run("ldd", os.path.join(root, "usr/bin/dfc")).splitlines():
            expect("all libraries are the system's: " + line, "not found" not in line and ROOT not in line)
        with open(os.path.join(work, "call.c"), "w", encoding="utf-8") as file:
            file.write('#include <dfc/dfc.h>\n#include <stdio.h>\nint main(void) { printf("%d\\n", dfc_abi() == DFC_ABI); return 0; }\n')
        library = os.path.dirname(glob.glob(os.path.join(root, "usr/lib/**/libdfc.so"), recursive=True)[0])
        run("cc", "-std=c99", "call.c", "-I" + os.path.join(root, "usr/include"), "-L" + library, "-ldfc", "-Wl,-rpath," + library, "-o", "call", cwd=work)
        expect("a program in C finds the library", run("./call", cwd=work) == "1\n")
        for path in ("usr/share/man/man1/dfc.1*", "usr/share/bash-completion/completions/dfc", "usr/share/zsh/vendor-completions/_dfc",
                     "usr/share/fish/vendor_completions.d/dfc.fish", "usr/share/doc/dfc/copyright", "usr/share/doc/dfc/licences/libeigen3-dev"):
            expect("it holds " + path, glob.glob(os.path.join(root, path)))
        expect("the page is that of the program", subprocess.run("zcat -f usr/share/man/man1/dfc.1*", cwd=root, shell=True, capture_output=True, text=True).stdout
               == run("dfc", "manual", env=clean))
        words = run("bash", "--norc", "-c", 'source usr/share/bash-completion/completions/dfc; COMP_WORDS=(dfc run --eng); COMP_CWORD=2; _dfc; echo "${COMPREPLY[@]}"', cwd=root)
        expect("its completion completes: " + words, words.split() == ["--engine"])
        expect("no file of the Python module is in it", not glob.glob(os.path.join(root, "**/_native*"), recursive=True))
        print(os.path.basename(package), os.path.getsize(package) >> 10, "KiB")
        if args.keep:
            shutil.copy(package, args.keep)


if __name__ == "__main__":
    main()
