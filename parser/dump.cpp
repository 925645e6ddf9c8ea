// parser/dump.cpp
//
// Tokens and trees as text, for --emit=tokens and --emit=ast. The tree is printed as Haskell with every block
// in braces and every compound expression in parentheses; what has no Haskell form is in angle brackets.
#include "parser/lex.h"
#include "parser/parse.h"

namespace df {
namespace {

using namespace ast;

// A literal's text as it could stand in a source.
std::string Quoted(std::string_view text, char quote) {
  std::string out(1, quote);
  for (char c : text) {
    if (c == quote || c == '\\')
      (out += '\\') += c;
    else if (c == '\n')
      out += "\\n";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      out += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + quote;
}

bool IsOperatorName(std::string_view name) {
  if (name.empty() || name[0] == '(' || name[0] == '[') return false;
  char c = name[0];
  return std::string_view("!#$%&*+./<=>?@\\^|-~:").find(c) != std::string_view::npos ||
         (static_cast<unsigned char>(c) == 0xE2);  // most mathematical symbols
}

class Printer {
 public:
  explicit Printer(llvm::raw_ostream& out) : out_(out) {}

  void Print(const Module& module) {
    if (!module.extensions.empty()) {
      out_ << "{-# LANGUAGE ";
      Separated(module.extensions, ", ", [&](Symbol name) { out_ << Text(name); });
      out_ << " #-}\n";
    }
    if (module.name.text.valid()) {
      out_ << "module " << Text(module.name.text);
      if (module.has_exports) out_ << " ", PrintItems(module.exports);
      out_ << " where\n";
    }
    for (const Import& import : module.imports) Print(import);
    for (const Decl* decl : module.decls) {
      Print(decl);
      out_ << "\n";
    }
  }

 private:
  template <typename T, typename F>
  void Separated(List<T> items, const char* separator, F print) {
    bool first = true;
    for (const T& item : items) {
      if (!first) out_ << separator;
      first = false;
      print(item);
    }
  }
  void Items(List<Name> names) {
    out_ << " (";
    Separated(names, ", ", [&](const Name& name) { PrintPrefix(name); });
    out_ << ")";
  }

  void Print(const Name& name) {
    if (name.qualifier.valid()) out_ << Text(name.qualifier) << '.';
    out_ << Text(name.text);
  }
  void PrintPrefix(const Name& name) {
    bool op = IsOperatorName(Text(name.text));
    if (op) out_ << '(';
    Print(name);
    if (op) out_ << ')';
  }
  void PrintPrefix(Symbol name) { PrintPrefix(Name{name, {}, {}}); }
  void PrintInfix(const Name& name) {
    bool op = IsOperatorName(Text(name.text));
    if (!op) out_ << '`';
    Print(name);
    if (!op) out_ << '`';
  }
  void PrintInfix(const Expr* op) {
    PrintInfix(llvm::isa<ConExpr>(op) ? llvm::cast<ConExpr>(op)->name : llvm::cast<VarExpr>(op)->name);
  }

  void Print(const Literal& literal) {
    switch (literal.kind) {
      case LiteralKind::Integer:
      case LiteralKind::Fractional: out_ << Text(literal.text); break;
      case LiteralKind::Char: out_ << Quoted(Text(literal.text), '\''); break;
      case LiteralKind::String: out_ << Quoted(Text(literal.text), '"'); break;
    }
  }

  void Print(const Import& import) {
    out_ << "import " << (import.qualified ? "qualified " : "") << Text(import.module.text);
    if (import.as.text.valid()) out_ << " as " << Text(import.as.text);
    if (import.hiding) out_ << " hiding";
    if (import.has_items) {
      out_ << " ";
      PrintItems(import.items);
    }
    out_ << "\n";
  }

  void PrintItems(List<Item> items) {
    out_ << "(";
    Separated(items, ", ", [&](const Item& item) {
      if (item.is_module) out_ << "module ";
      PrintPrefix(item.name);
      if (item.all_members) out_ << "(..)";
      if (item.members.empty()) return;
      out_ << "(";
      Separated(item.members, ", ", [&](const Name& member) { PrintPrefix(member); });
      out_ << ")";
    });
    out_ << ")";
  }

  // ---- types
  void Print(const Type* type, bool atomic = false) {
    switch (type->kind) {
      case TypeKind::Con: Print(llvm::cast<ConType>(type)->name); break;
      case TypeKind::Var: out_ << Text(llvm::cast<VarType>(type)->name); break;
      case TypeKind::App: {
        auto* app = llvm::cast<AppType>(type);
        if (atomic) out_ << '(';
        Print(app->fn);
        out_ << ' ';
        Print(app->arg, true);
        if (atomic) out_ << ')';
        break;
      }
      case TypeKind::Fun: {
        auto* fn = llvm::cast<FunType>(type);
        out_ << '(';
        Print(fn->from);
        out_ << " -> ";
        Print(fn->to);
        out_ << ')';
        break;
      }
      case TypeKind::Tuple:
        out_ << '(';
        Separated(llvm::cast<TupleType>(type)->elements, ", ", [&](Type* t) { Print(t); });
        out_ << ')';
        break;
      case TypeKind::List:
        out_ << '[';
        Separated(llvm::cast<ListType>(type)->elements, ", ", [&](Type* t) { Print(t); });
        out_ << ']';
        break;
      case TypeKind::Dim: out_ << Text(llvm::cast<DimType>(type)->digits); break;
      case TypeKind::DimOp: {
        auto* op = llvm::cast<DimOpType>(type);
        out_ << '(';
        Print(op->left);
        out_ << ' ' << op->op << ' ';
        Print(op->right);
        out_ << ')';
        break;
      }
      case TypeKind::Bang:
        out_ << '!';
        Print(llvm::cast<BangType>(type)->type, true);
        break;
      case TypeKind::Error: out_ << "<error>"; break;
    }
  }
  void Print(List<Constraint> context) {
    if (context.empty()) return;
    out_ << '(';
    Separated(context, ", ", [&](const Constraint& constraint) {
      Print(constraint.cls);
      out_ << ' ';
      Print(constraint.type, true);
    });
    out_ << ") => ";
  }
  void Print(const QualType& type) {
    if (!type.forall.empty()) {
      out_ << "forall";
      for (const Name& name : type.forall) {
        out_ << ' ';
        Print(name);
      }
      out_ << ". ";
    }
    Print(type.context);
    Print(type.type);
  }

  // ---- patterns: compound ones always in parentheses
  void Print(const Pat* pat) {
    switch (pat->kind) {
      case PatKind::Wildcard: out_ << '_'; break;
      case PatKind::Var: PrintPrefix(llvm::cast<VarPat>(pat)->name); break;
      case PatKind::Literal: {
        auto* literal = llvm::cast<LiteralPat>(pat);
        if (literal->negative) out_ << "(-";
        Print(literal->value);
        if (literal->negative) out_ << ')';
        break;
      }
      case PatKind::Con: {
        auto* con = llvm::cast<ConPat>(pat);
        if (!con->args.empty()) out_ << '(';
        PrintPrefix(con->name);
        for (const Pat* arg : con->args) {
          out_ << ' ';
          Print(arg);
        }
        if (!con->args.empty()) out_ << ')';
        break;
      }
      case PatKind::Record: {
        auto* record = llvm::cast<RecordPat>(pat);
        Print(record->name);
        out_ << " {";
        Separated(record->fields, ", ", [&](const FieldPat& field) {
          Print(field.field);
          out_ << " = ";
          Print(field.pat);
        });
        out_ << "}";
        break;
      }
      case PatKind::Tuple:
        out_ << '(';
        Separated(llvm::cast<TuplePat>(pat)->elements, ", ", [&](Pat* p) { Print(p); });
        out_ << ')';
        break;
      case PatKind::List:
        out_ << '[';
        Separated(llvm::cast<ListPat>(pat)->elements, ", ", [&](Pat* p) { Print(p); });
        out_ << ']';
        break;
      case PatKind::As:
        out_ << Text(llvm::cast<AsPat>(pat)->name) << '@';
        Print(llvm::cast<AsPat>(pat)->pat);
        break;
      case PatKind::Bang:
        out_ << '!';
        Print(llvm::cast<BangPat>(pat)->pat);
        break;
      case PatKind::Lazy:
        out_ << '~';
        Print(llvm::cast<LazyPat>(pat)->pat);
        break;
      case PatKind::Paren: Print(llvm::cast<ParenPat>(pat)->pat); break;
      case PatKind::Infix: {
        auto* infix = llvm::cast<InfixPat>(pat);
        out_ << "<infix ";
        for (size_t i = 0; i < infix->operands.size(); ++i) {
          Print(infix->operands[i]);
          if (i == infix->ops.size()) break;
          out_ << ' ';
          PrintInfix(infix->ops[i]);
          out_ << ' ';
        }
        out_ << '>';
        break;
      }
      case PatKind::Typed:
        out_ << '(';
        Print(llvm::cast<TypedPat>(pat)->pat);
        out_ << " :: ";
        Print(llvm::cast<TypedPat>(pat)->type);
        out_ << ')';
        break;
      case PatKind::Error: out_ << "<error>"; break;
    }
  }

  // ---- expressions
  void Block(List<Decl*> decls) {
    out_ << "{ ";
    Separated(decls, "; ", [&](const Decl* decl) { Print(decl); });
    out_ << (decls.empty() ? "}" : " }");
  }
  void Print(const Stmt* stmt) {
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
  void Print(List<Stmt*> stmts, const char* separator) {
    Separated(stmts, separator, [&](const Stmt* stmt) { Print(stmt); });
  }
  void Print(const GuardedExpr& guarded, const char* arrow) {
    if (!guarded.guards.empty()) {
      out_ << "| ";
      Print(guarded.guards, ", ");
      out_ << ' ';
    }
    out_ << arrow << ' ';
    Print(guarded.body);
  }
  void Print(const Rhs& rhs, const char* arrow) {
    Separated(rhs.guarded, " ", [&](const GuardedExpr& guarded) { Print(guarded, arrow); });
    if (rhs.where.empty()) return;
    out_ << " where ";
    Block(rhs.where);
  }
  void Print(List<Alternative> alternatives) {
    out_ << "{ ";
    Separated(alternatives, "; ", [&](const Alternative& alternative) {
      Print(alternative.pat);
      out_ << ' ';
      Print(alternative.rhs, "->");
    });
    out_ << " }";
  }
  void Print(List<FieldBinding> fields) {
    out_ << " {";
    Separated(fields, ", ", [&](const FieldBinding& field) {
      Print(field.field);
      out_ << " = ";
      Print(field.value);
    });
    out_ << '}';
  }
  void Elements(List<Expr*> elements) {
    Separated(elements, ", ", [&](const Expr* expr) {
      if (expr) Print(expr);
    });
  }

  void Print(const Expr* expr) {
    switch (expr->kind) {
      case ExprKind::Var: PrintPrefix(llvm::cast<VarExpr>(expr)->name); break;
      case ExprKind::Con: PrintPrefix(llvm::cast<ConExpr>(expr)->name); break;
      case ExprKind::Literal: Print(llvm::cast<LiteralExpr>(expr)->value); break;
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
        out_ << ']';
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
      case ExprKind::Paren: Print(llvm::cast<ParenExpr>(expr)->expr); break;
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
      case ExprKind::Error: out_ << "<error>"; break;
    }
  }

  // ---- declarations
  void Head(const Name& name, List<Name> params) {
    PrintPrefix(name);
    for (const Name& param : params) out_ << ' ' << Text(param.text);
  }
  void Print(const ConstructorDecl& con) {
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
  void Members(List<Decl*> members) {
    if (members.empty()) return;
    out_ << " where ";
    Block(members);
  }

  void Print(const Decl* decl) {
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
          Separated(data->deriving, ", ", [&](const DerivedClass& derived) { Print(derived.cls); });
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
      case DeclKind::Class: {
        auto* cls = llvm::cast<ClassDecl>(decl);
        out_ << "class ";
        Print(cls->context);
        out_ << Text(cls->name.text) << ' ' << Text(cls->param.text);
        Members(cls->members);
        break;
      }
      case DeclKind::Instance: {
        auto* instance = llvm::cast<InstanceDecl>(decl);
        out_ << "instance ";
        Print(instance->context);
        Print(instance->cls);
        out_ << ' ';
        Print(instance->type, true);
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
      case DeclKind::Foreign: {
        auto* foreign = llvm::cast<ForeignDecl>(decl);
        out_ << "foreign import prim " << Quoted(Text(foreign->op), '"') << ' ';
        PrintPrefix(foreign->name);
        out_ << " :: ";
        Print(foreign->type);
        break;
      }
      case DeclKind::Error: out_ << "<error>"; break;
    }
  }

  llvm::raw_ostream& out_;
};

}  // namespace

// A token is a line: its place, an asterisk if it begins its source line, its kind and its text.
void Dump(const TokenBuffer& tokens, const SourceManager& sources, llvm::raw_ostream& out) {
  std::string_view text = sources.Text(tokens.file);
  size_t line = 1, seen = 0;
  for (const Token& token : tokens.tokens) {
    line += static_cast<size_t>(std::count(text.begin() + seen, text.begin() + token.span.begin, '\n'));
    seen = token.span.begin;
    out << line << ':' << token.column << (token.starts_line ? "* " : "  ");
    std::string_view spelling = sources.Text(token.span);
    switch (token.kind) {
      case TokenKind::Integer: out << "integer " << Text(token.text); break;
      case TokenKind::Fractional: out << "fractional " << Text(token.text); break;
      case TokenKind::Char: out << "char " << Quoted(Text(token.text), '\''); break;
      case TokenKind::String: out << "string " << Quoted(Text(token.text), '"'); break;
      case TokenKind::VarId: out << "name " << spelling; break;
      case TokenKind::ConId: out << "constructor " << spelling; break;
      case TokenKind::VarSym: out << "operator " << spelling; break;
      case TokenKind::ConSym: out << "constructor operator " << spelling; break;
      case TokenKind::EndOfFile: out << "end of file"; break;
      default: out << spelling; break;
    }
    out << '\n';
  }
}

void Dump(const Ast& ast, llvm::raw_ostream& out) { Printer(out).Print(ast.module); }

}  // namespace df
