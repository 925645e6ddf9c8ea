#include "typecheck/state/stack_class.h"

#include "llvm/ADT/STLExtras.h"

namespace df::check {
namespace {

constexpr uint32_t kState = 1, kReader = 2, kWriter = 4, kError = 8;

struct StackName {
  std::string_view name;
  StackKind kind;
  uint32_t cls;
  bool is_method;
};
constexpr StackName kStackNames[] = {
    {"get", StackKind::Plain, kState, true},         {"put", StackKind::Plain, kState, true},
    {"state", StackKind::Plain, kState, true},       {"modify", StackKind::Plain, kState, false},
    {"modify'", StackKind::Plain, kState, false},    {"gets", StackKind::Plain, kState, false},
    {"ask", StackKind::Plain, kReader, true},        {"asks", StackKind::Plain, kReader, false},
    {"reader", StackKind::Plain, kReader, true},     {"local", StackKind::Map, kReader, true},
    {"tell", StackKind::Plain, kWriter, true},       {"writer", StackKind::Plain, kWriter, true},
    {"throwError", StackKind::Plain, kError, true},  {"liftEither", StackKind::Plain, kError, false},
    {"catchError", StackKind::Catch, kError, true},  {"listen", StackKind::None, kWriter, true},
    {"pass", StackKind::None, kWriter, true},
};

const StackName* FindStackName(Symbol name) {
  static const llvm::DenseMap<uint32_t, const StackName*> names = [] {
    llvm::DenseMap<uint32_t, const StackName*> made;
    for (const StackName& row : kStackNames) made[Intern(row.name).index] = &row;
    return made;
  }();
  return names.lookup(name.index);
}

}  // namespace

uint32_t StackClass(Symbol name) {
  std::string_view text = Text(name);
  return text == "MonadState" ? kState : text == "MonadReader" ? kReader : text == "MonadWriter" ? kWriter : text == "MonadError" ? kError
         : text == "MonadRWS" ? kState | kReader | kWriter : 0;
}

uint32_t StackClassOf(Symbol operation) {
  const StackName* row = FindStackName(operation);
  return row ? row->cls : 0;
}

bool IsMethodOf(Symbol operation, uint32_t classes) {
  const StackName* row = FindStackName(operation);
  return row && row->is_method && (row->cls & classes);
}

bool OffersStackClass(const ModuleExports& exports, uint32_t classes) {
  return llvm::any_of(kStackNames, [&](const StackName& row) {
    return row.is_method && (row.cls & classes) && exports.values.count(Intern(row.name));
  });
}

StackKind KindOfStackName(Symbol name) {
  const StackName* row = FindStackName(name);
  return row ? row->kind : StackKind::None;
}

}  // namespace df::check
