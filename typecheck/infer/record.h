// typecheck/infer/record.h
//
// Records: construction, update, fields.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// The index of a field; -1, reported, if the constructor has no such field.
int FieldIndex(State& s, ConId con, const ast::Name& field);
// C { f = e, .. }: fields that are not given are run-time errors; strict ones have to be given.
core::Expr* CheckRecordCon(State& s, const ast::RecordConExpr* expr, TypeId expected, const Reason& why);
// r { f = e, .. }: a case over the constructors that have all these fields. Type parameters that only the new
// fields mention may change.
core::Expr* CheckRecordUpdate(State& s, const ast::RecordUpdateExpr* expr, TypeId expected, const Reason& why);

}  // namespace df::check
