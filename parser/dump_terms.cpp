// parser/dump_terms.cpp
//
// Expressions and declarations as text, for --emit=ast.
#include "parser/parse.h"
#include "parser/printer.h"

namespace df {

using namespace ast;

// ---------------------------------------------------------------- expressions

void Printer::Block(List<Decl*> decls) {
  out_ << "{ ";
  Separated(decls, "; ", [&](const Decl* decl) { Print(decl); });
  out_ << (decls.empty() ? "}" : " }");
}

void Printer::Print(const Stmt* stmt) {
  if (auto* bind = llvm::dyn_cast<BindStmt>(stmt)) {
    Print(bind->pat);
    out_ << " <- ";
    Print(bind->expr);
  } else if (auto* let = llvm::dyn_cast<LetStmt>(stmt)) {
    out_ << "let ";
    Block(let->decls);
  } else {
    Print(llvm::cast<ExprStmt>(stmt)->expr);
  }
}

void Printer::Print(List<Stmt*> stmts, const char* separator) {
  Separated(stmts, separator, [&](const Stmt* stmt) { Print(stmt); });
}

void Printer::Print(const GuardedExpr& guarded, const char* arrow) {
  if (!guarded.guards.empty()) {
    out_ << "| ";
    Print(guarded.guards, ", ");
    out_ << ' ';
  }
  out_ << arrow << ' ';
  Print(guarded.body);
}

void Printer::Print(const Rhs& rhs, const char* arrow) {
  Separated(rhs.guarded, " ", [&](const GuardedExpr& guarded) { Print(guarded, arrow); });
  if (rhs.where.empty()) return;
  out_ << " where ";
  Block(rhs.where);
}

void Printer::Print(List<Alternative> alternatives) {
  out_ << "{ ";
  Separated(alternatives, "; ", [&](const Alternative& alternative) {
    Print(alternative.pat);
    out_ << ' ';
    Print(alternative.rhs, "->");
  });
  out_ << " }";
}

void Printer::Print(List<FieldBinding> fields) {
  out_ << " {";
  Separated(fields, ", ", [&](const FieldBinding& field) {
    Print(field.field);
    out_ << " = ";
    Print(field.value);
  });
  out_ << '}';
}

void Printer::Elements(List<Expr*> elements) {
  Separated(elements, ", ", [&](const Expr* expr) {
    if (expr) Print(expr);
  });
}

// Applications, operators and sections.
void Printer::PrintApplication(const Expr* expr) {
  switch (expr->kind) {
    case ExprKind::App: {
      auto* app = llvm::cast<AppExpr>(expr);
      out_ << '(';
      Print(app->fn);
      for (const Expr* arg : app->args) {
        out_ << ' ';
        Print(arg);
      }
      out_ << ')';
      break;
    }
    case ExprKind::Infix: {
      auto* infix = llvm::cast<InfixExpr>(expr);
      out_ << "<infix";
      for (size_t i = 0; i < infix->operands.size(); ++i) {
        if (infix->operands[i]) {
          out_ << ' ';
          Print(infix->operands[i]);
        }
        if (i == infix->ops.size()) break;
        out_ << ' ';
        PrintInfix(infix->ops[i]);
      }
      out_ << '>';
      break;
    }
    case ExprKind::Binary: {
      auto* binary = llvm::cast<BinaryExpr>(expr);
      out_ << '(';
      Print(binary->left);
      out_ << ' ';
      PrintInfix(binary->op);
      out_ << ' ';
      Print(binary->right);
      out_ << ')';
      break;
    }
    case ExprKind::Negate:
      out_ << "(- ";
      Print(llvm::cast<NegateExpr>(expr)->operand);
      out_ << ')';
      break;
    case ExprKind::LeftSection:
      out_ << '(';
      Print(llvm::cast<LeftSectionExpr>(expr)->operand);
      out_ << ' ';
      PrintInfix(llvm::cast<LeftSectionExpr>(expr)->op);
      out_ << ')';
      break;
    case ExprKind::RightSection:
      out_ << '(';
      PrintInfix(llvm::cast<RightSectionExpr>(expr)->op);
      out_ << ' ';
      Print(llvm::cast<RightSectionExpr>(expr)->operand);
      out_ << ')';
      break;
    default: break;
  }
}

// What begins with a keyword or a backslash.
void Printer::PrintForm(const Expr* expr) {
  switch (expr->kind) {
    case ExprKind::Lambda:
      out_ << "(\\";
      Separated(llvm::cast<LambdaExpr>(expr)->params, " ", [&](const Pat* pat) { Print(pat); });
      out_ << " -> ";
      Print(llvm::cast<LambdaExpr>(expr)->body);
      out_ << ')';
      break;
    case ExprKind::Let:
      out_ << "(let ";
      Block(llvm::cast<LetExpr>(expr)->decls);
      out_ << " in ";
      Print(llvm::cast<LetExpr>(expr)->body);
      out_ << ')';
      break;
    case ExprKind::If: {
      auto* e = llvm::cast<IfExpr>(expr);
      out_ << "(if ";
      Print(e->cond);
      out_ << " then ";
      Print(e->then_);
      out_ << " else ";
      Print(e->else_);
      out_ << ')';
      break;
    }
    case ExprKind::MultiIf:
      out_ << "(if ";
      Separated(llvm::cast<MultiIfExpr>(expr)->alternatives, " ",
                [&](const GuardedExpr& guarded) { Print(guarded, "->"); });
      out_ << ')';
      break;
    case ExprKind::Case:
      out_ << "(case ";
      Print(llvm::cast<CaseExpr>(expr)->scrutinee);
      out_ << " of ";
      Print(llvm::cast<CaseExpr>(expr)->alternatives);
      out_ << ')';
      break;
    case ExprKind::LambdaCase:
      out_ << "(\\case ";
      Print(llvm::cast<LambdaCaseExpr>(expr)->alternatives);
      out_ << ')';
      break;
    case ExprKind::Do:
      out_ << "(do { ";
      Print(llvm::cast<DoExpr>(expr)->stmts, "; ");
      out_ << " })";
      break;
    default: break;
  }
}

// Tuples and lists.
void Printer::PrintElements(const Expr* expr) {
  switch (expr->kind) {
    case ExprKind::Tuple:
      out_ << '(';
      Elements(llvm::cast<TupleExpr>(expr)->elements);
      out_ << ')';
      break;
    case ExprKind::TupleSection:
      out_ << '(';
      Elements(llvm::cast<TupleSectionExpr>(expr)->elements);
      out_ << ')';
      break;
    case ExprKind::List:
      out_ << '[';
      Elements(llvm::cast<ListExpr>(expr)->elements);
      out_ << ']';
      break;
    case ExprKind::Sequence: {
      auto* sequence = llvm::cast<SequenceExpr>(expr);
      out_ << '[';
      Print(sequence->from);
      if (sequence->then_) {
        out_ << ", ";
        Print(sequence->then_);
      }
      out_ << " ..";
      if (sequence->to) {
        out_ << ' ';
        Print(sequence->to);
      }
      out_ << ']';
      break;
    }
    case ExprKind::Comprehension:
      out_ << '[';
      Print(llvm::cast<ComprehensionExpr>(expr)->element);
      out_ << " | ";
      Print(llvm::cast<ComprehensionExpr>(expr)->stmts, ", ");
      for (List<Stmt*> branch : llvm::cast<ComprehensionExpr>(expr)->beside) {
        out_ << " | ";
        Print(branch, ", ");
      }
      out_ << ']';
      break;
    default: break;
  }
}

// With types, and records.
void Printer::PrintTypedOrRecord(const Expr* expr) {
  switch (expr->kind) {
    case ExprKind::Typed:
      out_ << '(';
      Print(llvm::cast<TypedExpr>(expr)->expr);
      out_ << " :: ";
      Print(llvm::cast<TypedExpr>(expr)->type);
      out_ << ')';
      break;
    case ExprKind::TypeApp: {
      auto* app = llvm::cast<TypeAppExpr>(expr);
      Print(app->fn);
      for (const Type* type : app->types) {
        out_ << " @";
        if (type) Print(type, true);
        else out_ << '_';
      }
      break;
    }
    case ExprKind::RecordCon:
      out_ << '(';
      Print(llvm::cast<RecordConExpr>(expr)->con);
      Print(llvm::cast<RecordConExpr>(expr)->fields);
      out_ << ')';
      break;
    case ExprKind::RecordUpdate:
      out_ << '(';
      Print(llvm::cast<RecordUpdateExpr>(expr)->record);
      Print(llvm::cast<RecordUpdateExpr>(expr)->fields);
      out_ << ')';
      break;
    default: break;
  }
}

void Printer::Print(const Expr* expr) {
  switch (expr->kind) {
    case ExprKind::Var: PrintPrefix(llvm::cast<VarExpr>(expr)->name); break;
    case ExprKind::Con: PrintPrefix(llvm::cast<ConExpr>(expr)->name); break;
    case ExprKind::Literal: Print(llvm::cast<LiteralExpr>(expr)->value); break;
    case ExprKind::App:
    case ExprKind::Infix:
    case ExprKind::Binary:
    case ExprKind::Negate:
    case ExprKind::LeftSection:
    case ExprKind::RightSection: return PrintApplication(expr);
    case ExprKind::Lambda:
    case ExprKind::Let:
    case ExprKind::If:
    case ExprKind::MultiIf:
    case ExprKind::Case:
    case ExprKind::LambdaCase:
    case ExprKind::Do: return PrintForm(expr);
    case ExprKind::Tuple:
    case ExprKind::TupleSection:
    case ExprKind::List:
    case ExprKind::Sequence:
    case ExprKind::Comprehension: return PrintElements(expr);
    case ExprKind::Paren: Print(llvm::cast<ParenExpr>(expr)->expr); break;
    case ExprKind::Typed:
    case ExprKind::TypeApp:
    case ExprKind::RecordCon:
    case ExprKind::RecordUpdate: return PrintTypedOrRecord(expr);
    case ExprKind::Error: out_ << "<error>"; break;
  }
}

// ---------------------------------------------------------------- declarations

void Printer::Head(const Name& name, List<Name> params) {
  PrintPrefix(name);
  for (const Name& param : params) out_ << ' ' << Text(param.text);
}

void Printer::Print(const ConstructorDecl& con) {
  if (!con.forall.empty()) {
    out_ << "forall";
    for (const Name& name : con.forall) out_ << ' ' << Text(name.text);
    out_ << ". ";
  }
  Print(con.context);
  if (con.result) {
    out_ << '<';
    Print(con.result);
    out_ << "> ";
  }
  PrintPrefix(con.name);
  auto type = [&](const FieldDecl& field) {
    if (field.strict) out_ << '!';
    Print(field.type, true);
  };
  if (!con.record) {
    for (const FieldDecl& field : con.fields) {
      out_ << ' ';
      type(field);
    }
    return;
  }
  out_ << " {";
  Separated(con.fields, ", ", [&](const FieldDecl& field) {
    PrintPrefix(field.name);
    out_ << " :: ";
    type(field);
  });
  out_ << '}';
}

void Printer::Members(List<Decl*> members) {
  if (members.empty()) return;
  out_ << " where ";
  Block(members);
}

// Declarations of types, classes and instances.
void Printer::PrintTypeDecl(const Decl* decl) {
  switch (decl->kind) {
    case DeclKind::Data: {
      auto* data = llvm::cast<DataDecl>(decl);
      out_ << (data->newtype ? "newtype " : "data ");
      Print(data->context);
      Head(data->name, data->params);
      if (!data->constructors.empty()) out_ << " = ";
      Separated(data->constructors, " | ", [&](const ConstructorDecl& con) { Print(con); });
      if (!data->deriving.empty()) {
        out_ << " deriving";
        out_ << " (";
        Separated(data->deriving, ", ", [&](const DerivedClass& derived) {
          Print(derived.cls);
          for (const Type* arg : derived.args) {
            out_ << ' ';
            Print(arg, true);
          }
        });
        out_ << ')';
      }
      break;
    }
    case DeclKind::TypeSynonym: {
      auto* synonym = llvm::cast<TypeSynonymDecl>(decl);
      out_ << "type ";
      Head(synonym->name, synonym->params);
      out_ << " = ";
      Print(synonym->type);
      break;
    }
    case DeclKind::TypeFamily: {
      auto* family = llvm::cast<TypeFamilyDecl>(decl);
      out_ << "type family ";
      Head(family->name, family->params);
      if (family->result) {
        out_ << " :: ";
        Print(family->result);
      }
      if (!family->closed) break;
      out_ << " where { ";
      Separated(family->equations, "; ", [&](const TypeEquation& equation) {
        Print(equation.left);
        out_ << " = ";
        Print(equation.right);
      });
      out_ << " }";
      break;
    }
    case DeclKind::TypeInstance: {
      const TypeEquation& equation = llvm::cast<TypeInstanceDecl>(decl)->equation;
      out_ << "type instance ";
      Print(equation.left);
      out_ << " = ";
      Print(equation.right);
      break;
    }
    case DeclKind::Role: {
      auto* role = llvm::cast<RoleDecl>(decl);
      out_ << "type role ";
      Head(role->name, role->roles);
      break;
    }
    case DeclKind::Class: {
      auto* cls = llvm::cast<ClassDecl>(decl);
      out_ << "class ";
      Print(cls->context);
      Head(cls->name, cls->params);
      for (const Dependency& dependency : cls->dependencies) {
        out_ << (&dependency == &cls->dependencies[0] ? " | " : ", ");
        Separated(dependency.from, " ", [&](const Name& name) { Print(name); });
        out_ << " -> ";
        Separated(dependency.to, " ", [&](const Name& name) { Print(name); });
      }
      Members(cls->members);
      break;
    }
    case DeclKind::Instance: {
      auto* instance = llvm::cast<InstanceDecl>(decl);
      out_ << "instance ";
      Print(instance->context);
      Print(instance->cls);
      out_ << ' ';
      if (instance->args.empty()) Print(instance->type, true);
      else Separated(instance->args, " ", [&](const Type* arg) { Print(arg, true); });
      Members(instance->members);
      break;
    }
    case DeclKind::Deriving: {
      auto* deriving = llvm::cast<DerivingDecl>(decl);
      out_ << "deriving instance ";
      Print(deriving->context);
      Print(deriving->derived.cls);
      out_ << ' ';
      Print(deriving->type, true);
      break;
    }
    default: break;
  }
}

void Printer::Print(const Decl* decl) {
  switch (decl->kind) {
    case DeclKind::Signature: {
      auto* signature = llvm::cast<SignatureDecl>(decl);
      Separated(signature->names, ", ", [&](const Name& name) { PrintPrefix(name); });
      out_ << " :: ";
      Print(signature->type);
      break;
    }
    case DeclKind::Fixity: {
      auto* fixity = llvm::cast<FixityDecl>(decl);
      out_ << (fixity->assoc == Associativity::Left    ? "infixl "
               : fixity->assoc == Associativity::Right ? "infixr "
                                                       : "infix ")
           << unsigned(fixity->precedence) << ' ';
      Separated(fixity->ops, ", ", [&](const Name& op) { PrintInfix(op); });
      break;
    }
    case DeclKind::Function: {
      auto* fn = llvm::cast<FunctionDecl>(decl);
      Separated(fn->clauses, "; ", [&](const Clause& clause) {
        PrintPrefix(fn->name);
        for (const Pat* param : clause.params) {
          out_ << ' ';
          Print(param);
        }
        out_ << ' ';
        Print(clause.rhs, "=");
      });
      break;
    }
    case DeclKind::PatBind:
      out_ << "<pattern> ";
      Print(llvm::cast<PatBindDecl>(decl)->pat);
      out_ << ' ';
      Print(llvm::cast<PatBindDecl>(decl)->rhs, "=");
      break;
    case DeclKind::Data:
    case DeclKind::TypeSynonym:
    case DeclKind::Class:
    case DeclKind::Instance:
    case DeclKind::Deriving:
    case DeclKind::TypeFamily:
    case DeclKind::TypeInstance:
    case DeclKind::Role: return PrintTypeDecl(decl);
    case DeclKind::Foreign: {
      auto* foreign = llvm::cast<ForeignDecl>(decl);
      out_ << "foreign import prim " << Quoted(Text(foreign->op), '"') << ' ';
      PrintPrefix(foreign->name);
      out_ << " :: ";
      Print(foreign->type);
      break;
    }
    case DeclKind::Default:
      out_ << "default (";
      Separated(llvm::cast<DefaultDecl>(decl)->types, ", ", [&](const Type* type) { Print(type); });
      out_ << ')';
      break;
    case DeclKind::Error: out_ << "<error>"; break;
  }
}

}  // namespace df
