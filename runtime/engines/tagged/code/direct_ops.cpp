// What the ops of direct code are called, and which ops of the graph only look at a value.
#include "runtime/engines/tagged/code/direct_data.h"

namespace df::tagged {

const char* NameOf(Direct op) {
  static const char* const kNames[] = {
#define DF_DIRECT_BINARY(name, type, condition, expression) #name "RR", #name "RK", #name "KR",
#define DF_DIRECT_COMPARE(name, expression) \
  #name "RR", #name "RK", #name "KR", "Branch" #name "RR", "Branch" #name "RK",
#define DF_DIRECT_UNARY(name, type, condition, expression) #name,
#define DF_DIRECT_INTEGER(name, expression) #name "ZRR", #name "ZRK", #name "ZKR",
#define DF_DIRECT_INTEGER_COMPARE(name, expression) \
  #name "ZRR", #name "ZRK", #name "ZKR", "Branch" #name "ZRR", "Branch" #name "ZRK",
#define DF_DIRECT(name, operands) #name,
#include "runtime/engines/tagged/code/direct_ops.def"
  };
  return kNames[static_cast<size_t>(op)];
}

bool IsReading(ir::Op op) {
  switch (op) {
    case ir::Op::TextSize:
    case ir::Op::TextStart:
    case ir::Op::TextChar:
    case ir::Op::CharClass:
    case ir::Op::ToUpper:
    case ir::Op::ToLower: return true;
    default: return false;
  }
}

}  // namespace df::tagged
