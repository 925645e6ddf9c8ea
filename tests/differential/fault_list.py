"""The faults of faults.py: (name, file, text there, text instead)."""

TRANSFORM = "lower/transform/transform.cpp"
BRANCH = "lower/transform/branch.cpp"
RULES = "runtime/engines/reference/rules.cpp"
STRICTNESS = "lower/mono/strictness.cpp"
CALLS = "runtime/engines/tagged/exec/calls.cpp"
CELLS = "runtime/engines/tagged/exec/delayed_calls.cpp"
ERRORS = "runtime/engines/tagged/exec/errors.cpp"
STEP = "runtime/engines/tagged/exec/event_interpreter.cpp"

FAULTS = [
    # ---- the transform: both engines run the wrong graph, only the oracle can tell
    ("switch-sides-swapped", BRANCH, "for (uint32_t k = 0; k < count; ++k) sides[k].push_back({node, k});",
     "for (uint32_t k = 0; k < count; ++k) sides[k].push_back({node, count - 1 - k});"),
    ("trigger-sides-swapped", BRANCH, "for (Trigger& side : *trigger->siblings) side.edge = {node, side.side};",
     "for (Trigger& side : *trigger->siblings) side.edge = {node, uint32_t(trigger->siblings->size()) - 1 - side.side};"),
    ("merge-sides-swapped", BRANCH, "operands.append(sides.begin(), sides.end());",
     "operands.append(sides.rbegin(), sides.rend());"),
    ("branch-trigger-not-switched", BRANCH,
     "for (Trigger& side : *trigger->siblings) side.edge = {node, side.side};",
     "for (Trigger& side : *trigger->siblings) side.edge = outer;"),
    ("return-of-another-result", TRANSFORM, "graph_.SetInput(site.returns[k], 0, body->results[k]);",
     "graph_.SetInput(site.returns[k], 0, body->results[body->results.size() - 1 - k]);"),
    ("continue-inverted", BRANCH, "tail.go_on = Constant(block.again);", "tail.go_on = Constant(!block.again);"),
    ("all-invariant", BRANCH, "if (node.kind != fg::NodeKind::Param || node.attr != i) invariant[i] = false;",
     "if (node.kind != fg::NodeKind::Param) invariant[i] = false;"),
    ("loop-values-shifted", BRANCH, "merged([&](const Tail& tail) { return tail.results[k]; }",
     "merged([&](const Tail& tail) { return tail.results[0]; }"),
    ("arguments-swapped", TRANSFORM, "body.arrivals[i + 1].push_back({call, 0});",
     "body.arrivals[operands.size() - i].push_back({call, 0});"),
    ("delay-operands-shifted", TRANSFORM, "body.arrivals[i].push_back({delay, i + 1});",
     "body.arrivals[i].push_back({delay, i ? uint32_t(body.arrivals.size()) - i + 1 : 1});"),
    ("call-on-the-outer-trigger", TRANSFORM, "ir::NodeId trigger = Add(ir::Op::Call, TriggerEdge(trigger_),",
     "ir::NodeId trigger = Add(ir::Op::Call, TriggerEdge(trigger_->outer ? trigger_->outer : trigger_),"),
    ("constant-on-the-outer-trigger", TRANSFORM,
     "if (node.op == ir::Op::Const || node.op == ir::Op::Construct) before.push_back(TriggerEdge(trigger_));",
     "if (node.op == ir::Op::Const || node.op == ir::Op::Construct)\n"
     "    before.push_back(TriggerEdge(trigger_->outer ? trigger_->outer : trigger_));"),
    ("missing-control-edge", TRANSFORM, "ir::Edge{trigger, 1}}, type, site.index, pos);",
     "TriggerEdge(trigger_)}, type, site.index, pos);"),

    # ---- the reference engine
    ("switch-always-first-side", RULES, "uint32_t side = chooses ? Side(types_[token.node.index].operand, predicate) : 0;",
     "uint32_t side = 0;"),
    ("failed-operand-is-dead", RULES, "if (operand.is_error()) return Emit(node, 0, tag, operand);",
     "if (operand.is_error()) return Emit(node, 0, tag, Value::Dead());"),
    ("lost-dead-token", RULES, "Emit(token.node, k, token.tag, chooses && k == side ? operands[1] : Value::Dead());",
     "if (chooses && k == side) Emit(token.node, k, token.tag, operands[1]);"),
    ("bool-sides", RULES, "return predicate.word() ? 0 : 1;", "return predicate.word() ? 1 : 0;"),
    ("merge-takes-the-first-to-come", RULES, "if (waiting.present[source]) {",
     "if (source = waiting.present[1] ? 1 : 2; waiting.present[source]) {"),
    ("merge-drops-error-predicate", RULES,
     "uint32_t source = predicate.is_word() ? 1 + Side(types_[token.node.index].operand, predicate) : 0;",
     "uint32_t source = 1 + (predicate.is_word() ? Side(types_[token.node.index].operand, predicate) : 0);"),
    ("call-keeps-tag", RULES, "Emit(token.node, 0, tags_.Push({n.attr, false, 0}, token.tag), token.value);\n}\n\n// Tag i:t",
     "Emit(token.node, 0, tags_.Push({n.attr ^ 1, false, 0}, token.tag), token.value);\n}\n\n// Tag i:t"),
    ("dead-call-enters", RULES, "    if (n.num_results > 1) Emit(token.node, 1, token.tag, token.value);\n    return;\n  }\n  if (n.num_results > 1) ++stats_.calls;",
     "    if (n.num_results > 1) Emit(token.node, 1, token.tag, token.value);\n  }\n  if (n.num_results > 1) ++stats_.calls;"),
    ("dead-call-no-control", RULES, "    if (n.num_results > 1) Emit(token.node, 1, token.tag, token.value);\n    return;\n  }\n  if (n.num_results > 1) ++stats_.calls;",
     "    return;\n  }\n  if (n.num_results > 1) ++stats_.calls;"),
    ("return-takes-any-label", RULES, "if (token.input == 0 && !mine) return;",
     "if (token.input == 0 && token.tag.empty()) return;"),
    ("return-keeps-label", RULES, "Emit(token.node, 0, token.tag.tail(), token.value);\n}\n\n// A delayed",
     "Emit(token.node, 0, token.tag, token.value);\n}\n\n// A delayed"),
    ("next-without-predicate", RULES, "if (operands[0].is_dead() || !IsTrue(operands[1])) return;",
     "if (operands[0].is_dead()) return;"),
    ("next-same-iteration", RULES, "tags_.Push({head.id, true, head.iteration + 1}", "tags_.Push({head.id, true, head.iteration}"),
    ("exit-while-true", RULES, "    if (IsTrue(predicate)) return;\n    return Emit(token.node, 0, token.tag.tail(), operands[1]);",
     "    return Emit(token.node, 0, token.tag.tail(), operands[1]);"),
    ("exit-drops-error", RULES, "  Emit(token.node, 0, token.tag.tail(), predicate);\n}",
     "  if (predicate.is_dead()) Emit(token.node, 0, token.tag.tail(), predicate);\n}"),
    ("delay-dead-yields-reference", RULES, "if (token.value.is_dead()) return Emit(token.node, 0, token.tag, token.value);\n    ++stats_.delays;",
     "++stats_.delays;"),
    ("release-forgets-operands", RULES, "  for (auto& [input, value] : cell->kept) Emit(node, input + 1, tag, value);\n",
     ""),
    ("late-operand-lost", RULES, "    Emit(token.node, token.input + 1, tags_.Push({n.attr, false, 0}, token.tag), token.value);\n", ""),
    ("force-does-not-release", RULES, "  Release(cell);\n}\n\n// At t'", "}\n\n// At t'"),
    ("error-order", RULES, "for (uint32_t k = 0; k < inputs && waiting.present[k]; ++k) {\n      if (waiting.operands[k].is_dead()) break;",
     "for (uint32_t k = 0; k < inputs; ++k) {\n      if (!waiting.present[k]) continue;\n      if (waiting.operands[k].is_dead()) break;"),

    # ---- strictness and delays
    ("strict-where-any-branch-is", STRICTNESS, "      if (!other.vars.contains(var)) gone.push_back(var);\n",
     "      if (false) gone.push_back(var);\n"),
    ("failure-needs-nothing-said", STRICTNESS, "    if (other.all) return;\n    if (all) {", "    if (other.all) return;\n    if (false) {"),
    ("all-arguments-strict", STRICTNESS,
     "if (i < out_.params[fun.index].size() && out_.params[fun.index][i]) demand.And(std::move(arg));",
     "demand.And(std::move(arg));"),
    ("lets-strict-in-lets", STRICTNESS, "if (done[i] || !demand.Has(expr->bindings[i].var)) continue;", "if (done[i]) continue;"),
    ("everything-cheap", "lower/build/let.cpp", "if (early == Early::No) {",
     "if (early != Early::No && !strictness_.strict_lets.contains(binding.var.index)) {"),

    # ---- the tagged engine
    ("tagged-side", STEP, "branch.is_bool ? predicate == 0 : static_cast<uint32_t>(predicate);",
     "branch.is_bool ? predicate != 0 : static_cast<uint32_t>(predicate);"),
    ("tagged-error-predicate", STEP, "    for (uint32_t event : events) w.Fire(frame, event);\n", ""),
    ("tagged-exit-error", ERRORS, "if (use.port == 0 || (use.port == 1 &&", "if ((use.port == 1 &&"),
    ("tagged-late-argument-lost", CALLS, "Deliver(w, child, d, w.Use(frame, d.from, d.last));", "(void)d;"),
    ("tagged-operand-lost", CELLS, "case DelayCell::State::Full: to_body = true; break;", "case DelayCell::State::Full: break;"),
    ("scheduled-fused-predicate-lost", "runtime/engines/tagged/exec/scheduled_frame.cpp",
     "if (from.fused != kNone) RunOp(w, frame, w.program.code[from.fused], from.fused, w.program.node_of[from.fused]);", ""),
    ("tagged-delay-operands-shifted", CELLS,
     "if (!operands[i].is_dead() && d.to != kNone && d.event == kNone) body->Set(d.to, std::move(operands[i]));",
     "if (!operands[i].is_dead() && d.to != kNone && d.event == kNone) body->Set(d.to, operands[0]);"),
]
