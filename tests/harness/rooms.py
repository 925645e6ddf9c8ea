#!/usr/bin/env python3
"""The walls between the rooms of the source: who includes what, and who calls whom.

    rooms.py [--root FOLDER] [--build FOLDER]

Every `#include` of a file of ours must be one that rooms.txt allows. With --build the libraries of the rooms are looked at, too: what one
leaves undefined must not be defined in a room that it may not include (a declaration of one's own would get past the first check). A folder of
sources may have 45 files, a line of a header 160 columns, and all of the source LONG_FUNCTIONS functions of more than 100 lines.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

SOURCES = (".cpp", ".h", ".cu", ".cuh", ".inc", ".def")
MOST_FILES = 45
MOST_COLUMNS = 160
MOST_LINES, LONG_FUNCTIONS = 100, 7  # it may become fewer, and then this with it


def read_rooms(text):
    """room -> the rooms that it may include, itself among them"""
    rooms = {}
    for line in text.splitlines():
        line = line.partition("#")[0].strip()
        if not line:
            continue
        room, _, allowed = line.partition(":")
        may = {room}
        for word in allowed.split():
            name = word.removesuffix("..")
            if name not in rooms:
                raise SystemExit("rooms.txt: `%s` may include `%s`, which is no room above it" % (room, name))
            may |= rooms[name] if word != name else {name}
        rooms[room] = may
    return rooms


def room_of(path, rooms):
    folder = os.path.dirname(path)
    while folder and folder not in rooms:
        folder = os.path.dirname(folder)
    return folder


def files_below(root, rooms):
    for top in sorted({room.split("/")[0] for room in rooms}):
        for folder, _, names in os.walk(os.path.join(root, top)):
            found = [name for name in sorted(names) if name.endswith(SOURCES)]
            yield os.path.relpath(folder, root), found


def check_includes(root, rooms):
    faults = []
    for folder, names in files_below(root, rooms):
        if len(names) > MOST_FILES:
            faults.append("%s: %d files, at most %d find their way in a folder" % (folder, len(names), MOST_FILES))
        for name in names:
            path = os.path.join(folder, name)
            room = room_of(path, rooms)
            with open(os.path.join(root, path), encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    found = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
                    if not found or not os.path.exists(os.path.join(root, found[1])):
                        continue
                    other = room_of(found[1], rooms)
                    if other not in rooms[room]:
                        faults.append("%s:%d: `%s` may not include `%s` (%s)" % (path, number, room, other or "what is in no room", found[1]))
    return faults


def functions_of(text):
    """(line, name, lines) of each function of a source: what begins and ends in the first column, as our sources are laid out"""
    start = None
    for number, line in enumerate(text.splitlines(), 1):
        if line == "}" and start:
            first, head = start
            name = re.search(r"([\w:~]+)\(", head)
            if name:
                yield first, name[1], number - first + 1
            start = None
        elif re.match(r"[A-Za-z_\[]", line) and not re.match(r"(namespace|struct|class|enum|union|extern|constexpr \w+ k|public|private)\b", line):
            start = start or (number, line)
            if line.endswith((";", "}")):
                start = None


def check_sizes(root, rooms):
    faults, long = [], []
    for folder, names in files_below(root, rooms):
        for name in names:
            path = os.path.join(folder, name)
            with open(os.path.join(root, path), encoding="utf-8") as file:
                text = file.read()
            if name.endswith((".h", ".cuh")):
                faults += ["%s:%d: a line of %d columns" % (path, number, len(line))
                           for number, line in enumerate(text.splitlines(), 1) if len(line) > MOST_COLUMNS]
            if name.endswith((".cpp", ".cu")):
                long += ["%s:%d: %s has %d lines" % (path, line, function, lines)
                         for line, function, lines in functions_of(text) if lines > MOST_LINES]
    if len(long) > LONG_FUNCTIONS:
        faults += ["%d functions have more than %d lines, at most %d may" % (len(long), MOST_LINES, LONG_FUNCTIONS)] + long
    return faults


def libraries(root, rooms, build):
    """room -> its archive, by the `dfc_library(` of its CMakeLists.txt"""
    found = {}
    for room in rooms:
        lists = os.path.join(root, room, "CMakeLists.txt")
        if not os.path.exists(lists):
            continue
        with open(lists, encoding="utf-8") as file:
            for name in re.findall(r"dfc_library\((\w+)", file.read()):
                archive = os.path.join(build, room, "lib%s.a" % name)
                if os.path.exists(archive):
                    found.setdefault(room, []).append(archive)
    return found


def check_links(root, rooms, build):
    defined, wanted = {}, {}
    for room, archives in libraries(root, rooms, build).items():
        for archive in archives:
            for line in subprocess.run(["nm", "-C", "-A", archive], capture_output=True, text=True, errors="replace", check=False).stdout.splitlines():
                found = re.match(r"[^:]*:([^:]*):[0-9a-f ]* ([A-Za-z]) (.*)", line)
                if not found:
                    continue
                if found[2] in "TBDR":
                    defined.setdefault(found[3], set()).add(room)
                elif found[2] == "U":
                    wanted.setdefault((room, found[3]), found[1])
    if not defined:
        return ["%s: there are no libraries of rooms" % build]
    return ["%s/%s: `%s` may not call `%s`, which has %s" % (room, place, room, sorted(defined[name])[0], name)
            for (room, name), place in sorted(wanted.items()) if name in defined and not defined[name] & rooms[room]]


def check_the_check():
    """An include that goes up is found, with its file and its line."""
    rooms = read_rooms("low:\nhigh: low\n")
    with tempfile.TemporaryDirectory() as root:
        for room in rooms:
            os.mkdir(os.path.join(root, room))
        with open(os.path.join(root, "low", "a.h"), "w") as file:
            file.write("#pragma once\n\n#include \"high/b.h\"\n")
        with open(os.path.join(root, "high", "b.h"), "w") as file:
            file.write("#include \"low/a.h\"\n")
        assert check_includes(root, rooms) == ["low/a.h:3: `low` may not include `high` (high/b.h)"], check_includes(root, rooms)
    source = "namespace a {\n\nvoid F(int a,\n       int b) {\n  if (a) {\n  }\n}\n\nint g = 1;\nvoid G() { F(1, 2); }\n\n}  // namespace a\n"
    assert list(functions_of(source)) == [(3, "F", 5)], list(functions_of(source))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    parser.add_argument("--build")
    parser.add_argument("--dfc")  # as every script gets
    args = parser.parse_args()
    check_the_check()
    with open(os.path.join(args.root, "tests", "rooms.txt"), encoding="utf-8") as file:
        rooms = read_rooms(file.read())
    faults = check_includes(args.root, rooms) + check_sizes(args.root, rooms)
    if args.build:
        faults += check_links(args.root, rooms, args.build)
    for fault in faults:
        print(fault)
    print("%d rooms, %d faults" % (len(rooms), len(faults)))
    sys.exit(1 if faults else 0)


main()
