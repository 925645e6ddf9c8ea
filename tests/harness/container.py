#!/usr/bin/env python3
"""The Containerfile: what can be seen in it without an engine, and with one the image that it makes.

    container.py                                       its instructions, stages, files, packages and options: a test
    container.py --build build [--engine "buildah .."]  its last stage, of the package that this build tree makes, and a program run in it; by hand

The engine is called as buildah, with chroot as its isolation, so that it needs no daemon. The images that the stages begin with have to be there, or to be had by it.
"""

import argparse
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
INSTRUCTIONS = {"FROM", "COPY", "ADD", "WORKDIR", "RUN", "ENTRYPOINT", "CMD", "ENV", "ARG", "LABEL", "USER", "EXPOSE", "VOLUME", "SHELL", "STOPSIGNAL", "HEALTHCHECK", "ONBUILD"}


def expect(what, good):
    if not good:
        sys.exit("not so: " + what)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def instructions(text):
    """[(word, rest)], with lines that go on put together."""
    lines = [line for line in text.split("\n") if not line.lstrip().startswith("#")]
    whole = re.sub(r"\\\n", " ", "\n".join(lines))
    return [tuple((line.split(None, 1) + [""])[:2]) for line in whole.split("\n") if line.strip()]


def stages(steps):
    """{name or number: [(word, rest)]} in their order."""
    made = {}
    for word, rest in steps:
        if word == "FROM":
            named = re.fullmatch(r"(\S+)(?: AS (\S+))?", rest)
            expect("`FROM %s` names an image" % rest, named)
            made[named[2] or str(len(made))] = []
        else:
            expect("`%s` stands in a stage" % word, made)
            list(made.values())[-1].append((word, rest))
    return made


def check(text):
    """One thing after the other that would only be found when somebody makes the image."""
    steps = instructions(text)
    for word, _ in steps:
        expect("`%s` is an instruction" % word, word in INSTRUCTIONS)
    # What somebody's network asks for belongs to that network.
    expect("it names no proxy and no secret", not re.search(r"proxy|token|password", text, re.I))
    made = stages(steps)
    for number, (name, own) in enumerate(made.items()):
        for word, rest in own:
            if word in ("COPY", "ADD"):
                source = re.match(r"--from=(\S+) ", rest)
                expect("`COPY %s` is from a stage above" % rest, not source or source[1] in list(made)[:number])
            if word in ("ENTRYPOINT", "CMD") and rest.startswith("["):
                expect("`%s %s` is a list of words" % (word, rest), all(isinstance(each, str) for each in json.loads(rest)))
    runs = " && ".join(rest for own in made.values() for word, rest in own if word == "RUN")
    expect("what scripts/setup is asked for it knows", all("\n  %s) " % word in read("scripts/setup") for word in re.findall(r"scripts/setup (\w+)", runs)))
    sources = read("CMakeLists.txt") + "".join(read(path) for path in glob.glob("cmake/*.cmake", root_dir=ROOT))
    for option in re.findall(r"-D(DFC_\w+)=", runs):
        expect("%s is an option of the build" % option, "option(%s " % option in sources)
    expect("the package that is copied is the one that CPack makes", "set(CPACK_PACKAGE_NAME dfc)" in sources and "cpack -G DEB" in runs and "/build/dfc_*.deb" in text)
    left_out = read(".containerignore").split()
    expect("builds and the history are no part of the image", {"build*", ".git"} <= set(left_out))
    packages = {word for each in re.findall(r"apt-get install ([^&]*)", runs) for word in each.split() if not word.startswith(("-", "/"))}
    if shutil.which("apt-cache"):
        known = set(subprocess.run(["apt-cache", "pkgnames"], capture_output=True, text=True).stdout.split())
        if len(known) > 10_000:  # the lists are there
            expect("the packages are Debian's: %s" % (packages - known), packages <= known)
    return list(made)


def damaged(text):
    """Each of these changes has to be seen."""
    changes = [("RUN", "RUNN"), ("--from=build", "--from=built"), ('["dfc"]', "[dfc]"), ("scripts/setup build", "scripts/setup builds"), ("-DDFC_CUDA", "-DDFC_CUDAS"), ("FROM docker", "ENV http_proxy=x\nFROM docker"),
               ("dfc_*.deb /tmp", "dfc-*.deb /tmp"), ("FROM", "WORKDIR /x\nFROM")]
    for old, new in changes:
        expect("the Containerfile has `%s`" % old, old in text)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "Containerfile")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.replace(old, new, 1))
            done = subprocess.run([sys.executable, "-B", os.path.abspath(__file__), "--file", path], capture_output=True, text=True)
        expect("`%s` for `%s` is seen" % (new, old), done.returncode == 1)


def image(engine, build, stage):
    """The last stage, with a package in place of the stage that compiles, and a program in the image."""
    def run(*words, **kw):
        done = subprocess.run([*engine, *words], capture_output=True, text=True, **kw)
        if done.returncode:
            sys.exit("%s: exit code %d\n%s" % (" ".join(words), done.returncode, done.stderr[-3000:]))
        return done.stdout

    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "build"))
        subprocess.run([sys.executable, "-B", os.path.join(HERE, "deb.py"), "--build", build, "--keep", os.path.join(folder, "build")], check=True)
        policy = os.path.join(folder, "policy.json")
        with open(policy, "w", encoding="utf-8") as file:
            json.dump({"default": [{"type": "insecureAcceptAnything"}]}, file)
        trust = ["--signature-policy", policy]
        run("bud", "--isolation", "chroot", *trust, "--build-context", "%s=%s" % (stage, folder), "-t", "dfc-test", "-f", os.path.join(ROOT, "Containerfile"), folder)
        container = run("from", *trust, "localhost/dfc-test").strip()
        try:
            run("copy", container, os.path.join(ROOT, "samples", "fact.df"), "/work/fact.df")
            run("run", "--isolation", "chroot", container, "--", "dfc", "fact.df", "-o", "fact.graph")
            expect("the image's dfc runs a program", run("run", "--isolation", "chroot", container, "--", "dfc", "run", "fact.graph") == "3628800\n")
        finally:
            run("rm", container)
            run("rmi", "localhost/dfc-test")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build")
    parser.add_argument("--engine", default="buildah")
    parser.add_argument("--file", help="another file in its place, to be looked at only")
    args, _ = parser.parse_known_args()
    text = read(args.file or "Containerfile")
    names = check(text)
    if args.file:
        return
    damaged(text)
    print("%d stages, nothing wrong to be seen" % len(names))
    if args.build:
        image(shlex.split(args.engine), os.path.abspath(args.build), names[0])
        print("the image runs a program")


if __name__ == "__main__":
    main()
