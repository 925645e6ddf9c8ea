// parser/dump.cpp
//
// Tokens and trees as text, for --emit=tokens and --emit=ast.
#include "parser/lex.h"
#include "parser/parse.h"
#include "parser/printer.h"

namespace df {

using namespace ast;

namespace {

bool IsOperatorName(std::string_view name) {
  if (name.empty() || name[0] == '(' || name[0] == '[') return false;
  char c = name[0];
  return std::string_view("!#$%&*+./<=>?@\\^|-~:").find(c) != std::string_view::npos ||
         (static_cast<unsigned char>(c) == 0xE2);  // most mathematical symbols
}

}  // namespace

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

void Printer::Print(const Module& module) {
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

void Printer::Items(List<Name> names) {
  out_ << " (";
  Separated(names, ", ", [&](const Name& name) { PrintPrefix(name); });
  out_ << ")";
}

void Printer::Print(const Name& name) {
  if (name.qualifier.valid()) out_ << Text(name.qualifier) << '.';
  out_ << Text(name.text);
}

void Printer::PrintPrefix(const Name& name) {
  bool op = IsOperatorName(Text(name.text));
  if (op) out_ << '(';
  Print(name);
  if (op) out_ << ')';
}

void Printer::PrintInfix(const Name& name) {
  bool op = IsOperatorName(Text(name.text));
  if (!op) out_ << '`';
  Print(name);
  if (!op) out_ << '`';
}

void Printer::PrintInfix(const Expr* op) {
  PrintInfix(llvm::isa<ConExpr>(op) ? llvm::cast<ConExpr>(op)->name : llvm::cast<VarExpr>(op)->name);
}

void Printer::Print(const Literal& literal) {
  switch (literal.kind) {
    case LiteralKind::Integer:
    case LiteralKind::Fractional: out_ << Text(literal.text); break;
    case LiteralKind::Char: out_ << Quoted(Text(literal.text), '\''); break;
    case LiteralKind::String: out_ << Quoted(Text(literal.text), '"'); break;
  }
}

void Printer::Print(const Import& import) {
  out_ << "import " << (import.qualified ? "qualified " : "") << Text(import.module.text);
  if (import.as.text.valid()) out_ << " as " << Text(import.as.text);
  if (import.hiding) out_ << " hiding";
  if (import.has_items) {
    out_ << " ";
    PrintItems(import.items);
  }
  out_ << "\n";
}

void Printer::PrintItems(List<Item> items) {
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

// ---------------------------------------------------------------- types

void Printer::Print(const Type* type, bool atomic) {
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
    case TypeKind::Forall:
      out_ << '(';
      Print(llvm::cast<ForallType>(type)->body);
      out_ << ')';
      break;
    case TypeKind::Error: out_ << "<error>"; break;
  }
}

void Printer::Print(List<Constraint> context) {
  if (context.empty()) return;
  out_ << '(';
  Separated(context, ", ", [&](const Constraint& constraint) {
    Print(constraint.cls);
    out_ << ' ';
    if (constraint.args.empty()) Print(constraint.type, true);
    else Separated(constraint.args, " ", [&](Type* arg) { Print(arg, true); });
  });
  out_ << ") => ";
}

void Printer::Print(const QualType& type) {
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

// ---------------------------------------------------------------- patterns: compound ones always in parentheses

void Printer::Print(const Pat* pat) {
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
    case PatKind::View:
      out_ << '(';
      Print(llvm::cast<ViewPat>(pat)->view);
      out_ << " -> ";
      Print(llvm::cast<ViewPat>(pat)->pat);
      out_ << ')';
      break;
    case PatKind::Error: out_ << "<error>"; break;
  }
}

// ---------------------------------------------------------------- what the rest of the compiler calls

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
