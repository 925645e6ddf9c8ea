// lower/gradient/all.h
//
// What the gradient passes share: the program, the types, and the functions that were made, each once.
#pragma once

#include <deque>
#include <set>

#include "lower/gradient/gradient.h"
#include "lower/gradient/knots.h"
#include "lower/gradient/pair.h"
#include "lower/gradient/through.h"

namespace df::fg {

class Gradients {
 public:
  Gradients(Program& program, Diagnostics& diags, PlaceOf span_of, const GradientOptions& options)
      : program(program), types(program), recompute(options.recompute), diags_(diags), span_of_(span_of) {}
  bool Run();
  std::vector<PairedFunction> PairedFunctions() const;

  Program& program;
  GradientTypes types;
  const bool recompute;  // as GradientOptions has it
  FunctionId current;    // the function that is being differentiated

  // The paired and the dual body of a function that is needed at `pos`.
  FunctionId Paired(FunctionId function, ir::PosId pos);
  FunctionId Dual(FunctionId function, ir::PosId pos);
  // Whether parameter `param` may change result `result`. Of a paired body: a cotangent changes none of the values, and of
  // the new cotangents only those of parameters that change its own result. All else may change everything.
  bool MayChange(FunctionId function, uint32_t param, uint32_t result) const;
  // Reports an op without a derivative, and the calls that lead to it.
  void Refuse(GradientFault fault);

 private:
  enum class Mode : uint8_t { Pair, Dual };
  // A body that was asked for, and by whom.
  struct Request {
    FunctionId function;
    Mode mode;
    FunctionId by;
    ir::PosId pos;
  };
  FunctionId Derived(FunctionId function, Mode mode, ir::PosId pos);
  void Expand(FunctionId id);
  void ExpandReachable(FunctionId id);
  void ExpandNode(Writer& w, NodeId id);
  void WriteVjp(Writer& w, const Node& node, bool used, Values& results);
  void WriteJvp(Writer& w, const Node& node, Values& results);
  void Drain();
  void RefuseKnots();
  void NoteChanges(FunctionId source, Mode mode, FunctionId made);

  Diagnostics& diags_;
  PlaceOf span_of_;
  std::map<std::pair<uint32_t, Mode>, FunctionId> derived_;
  std::map<std::pair<uint32_t, Mode>, Request> requests_;
  // Of functions that were derived from paired ones, and of these: by parameter, the results that it may change.
  std::map<uint32_t, std::vector<std::vector<bool>>> changes_;
  std::deque<std::pair<Request, FunctionId>> work_;
  std::set<std::pair<std::string, uint32_t>> refused_;
  std::set<KnotFail> knots_;
  std::vector<AskedGradient> asked_;
  enum class State : uint8_t { New, Open, Done };
  std::map<uint32_t, State> states_;
  Mode mode_ = Mode::Pair;  // of `current`
};

}  // namespace df::fg
