"""The faults of faults.py in what makes a first-order graph of the whole language: (name, file, text there, text instead)."""

DERIVE = "typecheck/derive/derive.cpp"
TREE = "typecheck/match/tree.cpp"
STATEMENT = "typecheck/infer/stmt.cpp"
CLOSURES = "lower/mono/defunctionalise.cpp"
HIGHER = "lower/mono/higher_order.cpp"
SIMPLIFY = "lower/mono/simplify.cpp"
SIMPLIFY_CASE = "lower/mono/simplify_case.cpp"
CASE = "lower/build/case.cpp"

LANGUAGE_FAULTS = [
    # ---- derived instances
    ("derive-ord-constructors-reversed", DERIVE, 'make.Call("compare", {Tag(make, shape, "a"), Tag(make, shape, "b")}));',
     'make.Call("compare", {Tag(make, shape, "b"), Tag(make, shape, "a")}));'),
    ("derive-ord-fields-reversed", DERIVE,
     'make.Call("compare", {make.Var(Builder::Field("x", i)), make.Var(Builder::Field("y", i))});',
     'make.Call("compare", {make.Var(Builder::Field("y", i)), make.Var(Builder::Field("x", i))});'),
    ("derive-ord-last-field-decides", DERIVE, 'make.Alt(make.VarPat("r"), make.Var("r"))})', 'make.Alt(make.VarPat("r"), result)})'),
    ("derive-eq-any-field", DERIVE, 'make.Call("&&", {test, all})', 'make.Call("||", {test, all})'),
    ("derive-eq-first-field-only", DERIVE, 'all = all ? make.Call("&&", {test, all}) : test;', "all = test;"),
    ("derive-succ-stays", DERIVE, "make.Con(shape.cons[up ? i + 1 : i - 1]->name)", "make.Con(shape.cons[i]->name)"),
    ("derive-enum-from-to-the-first", DERIVE, 'make.Call("enumFromTo", {make.Var("a"), last})',
     'make.Call("enumFromTo", {make.Var("a"), first})'),

    # ---- matching
    ("match-rows-reversed", TREE, "      fitting.push_back(std::move(copy));", "      fitting.insert(fitting.begin(), std::move(copy));"),
    ("match-variables-fit-no-constructor", TREE, "everywhere.begin(), everywhere.end(), std::back_inserter",
     "everywhere.begin(), everywhere.begin(), std::back_inserter"),
    ("match-literals-have-no-default", TREE, "    work_ += groups.size();\n    others.push_back(std::move(line));",
     "    work_ += groups.size();"),
    ("bang-pattern-ignored", "typecheck/infer/nodes.cpp", "  return MakePat(s, bang);", "  return pat;"),
    ("comprehension-fails-on-misfits", STATEMENT,
     "    if (!IsIrrefutable(s.program, pat)) {\n      core::Pat wildcard{};\n      wildcard.kind = core::PatKind::Wildcard;\n"
     "      wildcard.type = item;", "    if (false) {\n      core::Pat wildcard{};\n      wildcard.kind = core::PatKind::Wildcard;\n"
     "      wildcard.type = item;"),
    ("record-update-forgets-its-first", "typecheck/infer/record.cpp", "      if (index >= 0) {", "      if (index > 0) {"),
    ("infixl-is-infixr", "parser/fixity.cpp", "l > r || (l == r && left.fixity.assoc == Associativity::Left)",
     "l > r || (l == r && left.fixity.assoc == Associativity::Right)"),

    # ---- classes
    ("default-instead-of-own-method", "lower/mono/specialise.cpp",
     "if (instance && var.method_index < instance->methods.size() && instance->methods[var.method_index].valid()) {",
     "if (instance && var.method_index < instance->methods.size() && instance->methods[var.method_index].valid() &&\n"
     "        !(var.method_index < cls.defaults.size() && cls.defaults[var.method_index].valid())) {"),
    ("copies-of-locals-shared-by-all-types", "lower/mono/specialise_poly.cpp", "if (have == types || !local.binding)", "if (true)"),

    # ---- functions as values
    ("closure-arguments-reversed", CLOSURES, "args.push_back(p_.NewVarExpr(function.params[i + 1], pos));",
     "args.push_back(p_.NewVarExpr(function.params[apply.count - i], pos));"),
    ("closure-holds-its-first-only", CLOSURES, "args.push_back(p_.NewVarExpr(alt.vars.back(), pos));",
     "args.push_back(p_.NewVarExpr(alt.vars.front(), pos));"),
    ("closures-share-a-number", CLOSURES, "con.index = static_cast<uint32_t>(types_[type].closures.size());", "con.index = 0;"),
    ("copies-for-all-constants-the-same", HIGHER, 'key += fmt::format("c{}", arg->constant.index);', 'key += "c";'),
    ("copies-for-all-functions-the-same", HIGHER, 'key += fmt::format("f{}{}", value->fun.index, PlaceKey(value));', 'key += "f";'),
    ("lift-forgets-what-callees-need", "lower/mono/lift.cpp", "        if (grew) work.push_back(caller);\n", ""),

    # ---- simplification
    ("known-constructor-takes-the-first", SIMPLIFY_CASE, "if (alt.con == known->con) return &alt;", "return &alt;"),
    ("known-truth-inverted", SIMPLIFY_CASE, "(alt.con == p_.core.true_con) == truth", "(alt.con == p_.core.true_con) != truth"),
    ("strict-fields-known-unevaluated", SIMPLIFY,
     "if (llvm::none_of(p_.core.constructors[value->con].fields, [](const core::Field& f) { return f.strict; }))", "if (true)"),
    ("float-in-past-the-scrutinee", "lower/mono/float_in.cpp", "      if (MentionsVar(expr->head, var)) return nullptr;\n", ""),
    ("float-into-the-last-alternative", "lower/mono/float_in.cpp",
     "        if (only) return nullptr;\n        only = &alt.body;", "        only = &alt.body;"),

    # ---- strictness and data
    ("lazy-fields-strict", "lower/mono/strictness.cpp",
     "if (is_needed || p_.core.constructors[expr->con].fields[i].strict) demand.And(std::move(arg));", "demand.And(std::move(arg));"),
    ("let-strict-if-the-body-fails", "lower/mono/strictness.cpp",
     "if (recording_ && demand.vars.contains(binding.var.index))", "if (recording_)"),
    ("seq-lost-before-one-way", CASE, "if (!total && (token || !strictness_.implied.contains(expr))) guards.push_back(must);", ""),
    ("fields-read-from-the-other-end", CASE, "con.index << 16 | i, pos)",
     "con.index << 16 | static_cast<uint32_t>(alt.vars.size() - 1 - i), pos)"),
    ("constructors-compared-one-off", CASE, "int64_t index = p_.core.constructors[alt->con].index;",
     "int64_t index = p_.core.constructors[alt->con].index + 1;"),
]
