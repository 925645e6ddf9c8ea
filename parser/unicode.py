#!/usr/bin/env python3
"""Writes parser/unicode.def: the lexical class of every character beyond ASCII.

Haskell 2010 section 2.1 speaks of Unicode's general categories; where it is vague (letters without case,
marks, numbers, quotes) the classes are GHC's. Run it when a newer Unicode is wanted; the table is checked in.
"""
import sys
import unicodedata

CLASS = {}
for categories, name in (("Lu Lt", "Upper"), ("Ll Lo", "Lower"), ("Lm Mn Nd Nl No", "Continue"),
                         ("Pc Pd Po Sm Sc Sk So", "Symbol"), ("Zs", "Space")):
    for category in categories.split():
        CLASS[category] = name


def ranges():
    """(first, last, class) over all characters; runs of alternating Upper and Lower are one range."""
    classes = [CLASS.get(unicodedata.category(chr(c)), "Other") for c in range(0x80, 0x110000)]
    at = 0
    while at < len(classes):
        end = at + 1
        while end < len(classes) and classes[end] == classes[at]:
            end += 1
        name = classes[at]
        if end == at + 1 and name == "Upper":
            pair = at
            while classes[pair:pair + 2] == ["Upper", "Lower"] and classes[pair + 2:pair + 3] != ["Lower"]:
                pair += 2
            if pair > at + 2:
                end, name = pair, "UpperLower"
        if name != "Other":
            yield at + 0x80, end - 1 + 0x80, name
        at = end


rows = [f"DF_RANGE(0x{first:X}, 0x{last:X}, {name})" for first, last, name in ranges()]
with open(sys.path[0] + "/unicode.def", "w", encoding="ascii") as out:
    out.write("// parser/unicode.def\n//\n// Made by parser/unicode.py from Unicode " + unicodedata.unidata_version +
              ": DF_RANGE(first, last, class), in order.\n// UpperLower: upper and lower case letters alternate, "
              "an upper one first. What is missing is Other.\n")
    line = ""
    for row in rows:
        if len(line) + len(row) > 108:
            out.write(line.rstrip() + "\n")
            line = ""
        line += row + " "
    out.write(line.rstrip() + "\n#undef DF_RANGE\n")
