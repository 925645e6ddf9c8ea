#!/usr/bin/env python3
"""The manual page and the completions are what the options are: nothing of `--help` is missing, shells take them, and they complete.

    pages.py --dfc build/dfc [--only NAME]
"""

import os
import re
import shutil
import subprocess

from promises import main, test

COMMANDS = ("run", "check", "repl", "explain", "worker", "place", "keygen", "completion", "manual")


def options(d, *command):
    """The spellings that `--help` of a command has."""
    out, _ = d.expect(0, *command, "--help")
    return [word for line in out.splitlines() if re.match(r" +-", line) for word in re.findall(r"(?:^|[ ,])(--?[A-Za-z][\w-]*)", re.split(r" {2,}", line.strip())[0])]


def plain(text):
    return text.replace("\\-", "-")


@test
def all_options_are_on_the_manual_page(d):
    page, _ = d.expect(0, "manual")
    sections = dict(re.findall(r"^\.SH (?:OPTIONS OF )?dfc (\w+)\n(.*?)(?=^\.SH|\Z)", page, re.M | re.S))
    for command in COMMANDS:
        assert command in sections, command
        for option in options(d, command):
            assert "\\fB%s\\fR" % option in plain(sections[command]), (command, option)
    for option in options(d):
        assert "\\fB%s\\fR" % option in plain(sections["FILE"]), option
    # No hidden ones, and exit codes.
    assert "stress" not in page and "internal error" in plain(page)
    for program, words in (("groff", ["-man", "-Tutf8", "-ww", "-z"]), ("mandoc", ["-Tlint", "-Wwarning"])):
        if shutil.which(program):
            done = subprocess.run([program, *words], input=page, capture_output=True, text=True)
            assert done.returncode == 0 and not done.stderr, done.stderr


def complete(d, words, line_end=""):
    """What bash offers behind these words, the last of which is to be completed."""
    script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _dfc; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "--norc", "-c", script, "bash", "dfc.bash", *words], cwd=d.path, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return set(done.stdout.split())


@test
def bash_completes(d):
    d.file("dfc.bash", d.expect(0, "completion", "bash")[0])
    d.file("model.df", "main = 1\n")
    os.mkdir(os.path.join(d.path, "folder"))
    for command in COMMANDS:
        assert complete(d, ["dfc", command, "-"]) == set(options(d, command)), command
    assert complete(d, ["dfc", "-"]) == set(options(d))
    assert complete(d, ["dfc", "re"]) == {"repl"}
    assert complete(d, ["dfc", "m"]) == {"manual", "model.df"}
    assert complete(d, ["dfc", "run", "mod"]) == {"model.df"}
    assert complete(d, ["dfc", "run", "--engine", ""]) == {"reference", "tagged", "demand", "expanding"}
    assert complete(d, ["dfc", "run", "--engine", "=", "ta"]) == {"tagged"}
    assert complete(d, ["dfc", "run", "--engine", "="]) == {"reference", "tagged", "demand", "expanding"}
    assert complete(d, ["dfc", "run", "--stats", "="]) == {"text", "json", "times"}
    assert complete(d, ["dfc", "run", "--stats", "mod"]) == {"model.df"}
    assert complete(d, ["dfc", "--emit", "to"]) == {"tokens"}
    assert complete(d, ["dfc", "run", "-i", ""]) == {"folder"}
    assert complete(d, ["dfc", "completion", ""]) == {"bash", "zsh", "fish"}
    assert complete(d, ["dfc", "explain", "mod"]) == set()


@test
def zsh_and_fish_take_theirs(d):
    for shell, check in (("zsh", ["-n"]), ("fish", ["--no-execute"])):
        name = d.file("dfc." + shell, d.expect(0, "completion", shell)[0])
        text = d.bytes(name).decode()
        for command in COMMANDS:
            for option in options(d, command):
                assert (option if shell == "zsh" else "-l %s" % option[2:] if option.startswith("--") else "-s %s" % option[1:]) in text, (shell, command, option)
        if not shutil.which(shell):
            print("no %s: its script is not run" % shell)
            continue
        done = subprocess.run([shell, *check, name], cwd=d.path, capture_output=True, text=True)
        assert done.returncode == 0 and not done.stderr, done.stderr
        if shell == "fish":
            done = subprocess.run(["fish", "--no-config", "-c", "source dfc.fish; complete -C 'dfc run --engine '"], cwd=d.path, capture_output=True, text=True)
            assert "tagged" in done.stdout.split(), (done.stdout, done.stderr)


@test
def what_completion_does_not_know(d):
    _, err = d.expect(2, "completion", "tcsh")
    assert "bash" in err, err
    d.expect(2, "completion")
    _, err = d.expect(2, "manual", "page")
    assert "takes nothing" in err or "1" in err, err
    _, err = d.expect(2, "manal")
    assert "did you mean `manual`?" in err, err


if __name__ == "__main__":
    main()
