// parser/ast.h
//
// The syntax tree of one module: what the text says, before names, fixities or types are known.
// Nodes live in the Ast's arena and never move; children are pointers or arrays in the same arena.
// Every node has the span of its text. LLVM casting works on Expr, Pat, Type, Decl and Stmt
// (llvm::isa, llvm::cast, llvm::dyn_cast), by each struct's classof. The nodes are in ast_type.h, ast_pattern.h,
// ast_expr.h and ast_decl.h.
#pragma once

#include <memory>
#include <utility>

#include "llvm/Support/Allocator.h"
#include "llvm/Support/raw_ostream.h"
#include "parser/ast_decl.h"

namespace df::ast {

// One item of an export or import list: `insert`, `Map`, `Maybe(..)`, `Maybe(Just)`, `module Data.Char`.
struct Item {
  Name name;
  bool all_members = false;  // `T(..)`
  bool is_module = false;    // `module M`, only in an export list
  List<Name> members;        // `T(A, b)`: constructors and fields, or a class's methods
};
// `import qualified Data.Map as Map (insert, Map(..))`, `hiding` alike.
struct Import {
  Name module;
  bool qualified;
  Name as;  // no text if absent
  bool has_items;
  bool hiding;
  List<Item> items;
  Span span;
};

struct Module {
  Name name;  // no text if there was no header
  bool has_exports = false;  // an export list, perhaps an empty one
  List<Item> exports;
  List<Symbol> extensions;  // of LANGUAGE pragmas that we know
  List<std::pair<Span, Type*>> kinds;  // `(f :: Type -> Type)`: the variable's place and its kind, as a type
  List<Import> imports;
  List<Decl*> decls;
};

// Owns the nodes of one module.
class Ast {
 public:
  FileId file;
  Module module;
  uint32_t complaints = 0;  // errors behind which the tree is still that of the text: an ErrorExpr stands where it is not

  template <typename T, typename... Args>
  T* New(Args&&... args) {
    return new (arena_->Allocate(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
  }
  template <typename T>
  List<T> Copy(llvm::ArrayRef<T> items) {
    if (items.empty()) return {};
    T* to = static_cast<T*>(arena_->Allocate(sizeof(T) * items.size(), alignof(T)));
    std::uninitialized_copy(items.begin(), items.end(), to);
    return List<T>(to, items.size());
  }

 private:
  std::unique_ptr<llvm::BumpPtrAllocator> arena_ = std::make_unique<llvm::BumpPtrAllocator>();
};

}  // namespace df::ast
