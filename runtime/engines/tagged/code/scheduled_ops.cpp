// What the ops of scheduled code are called, and which ops of the graph only look at a value.
#include "runtime/engines/tagged/code/scheduled_data.h"

namespace df::tagged {

const char* NameOf(Scheduled op) {
  static const char* const kNames[] = {
#define DF_SCHEDULED_BINARY(name, type, condition, expression) #name "RR", #name "RK", #name "KR",
#define DF_SCHEDULED_COMPARE(name, expression) \
  #name "RR", #name "RK", #name "KR", "Branch" #name "RR", "Branch" #name "RK",
#define DF_SCHEDULED_UNARY(name, type, condition, expression) #name,
#define DF_SCHEDULED_INTEGER(name, expression) #name "ZRR", #name "ZRK", #name "ZKR",
#define DF_SCHEDULED_INTEGER_COMPARE(name, expression) \
  #name "ZRR", #name "ZRK", #name "ZKR", "Branch" #name "ZRR", "Branch" #name "ZRK",
#define DF_SCHEDULED(name, operands) #name,
#include "runtime/engines/tagged/code/scheduled_ops.def"
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
