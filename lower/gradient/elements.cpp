// See gradient/elements.h.
//
// Parameters and fields that are tensors of real numbers are the nodes of a graph: an edge leads from one to what is given its value, as it is. Of
// those from which a read of an element is reached, the ones that are wanted lie on a cycle, lead to one, or come behind one: what lies on a
// cycle is read again and again, and before and behind it the sum is handed on. A field may be read as often as its data is looked at.
#include "lower/gradient/elements.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"

namespace df::fg {
namespace {

class ElementReads {
 public:
  explicit ElementReads(Program& program) : p_(program) {}

  std::set<TensorField> Run() {
    for (const Function& function : p_.functions) {
      params_.push_back(static_cast<uint32_t>(places_.size()));
      places_.resize(places_.size() + function.params.size());
    }
    for (FunctionId f(0); f.index < p_.functions.size(); ++f.index) Collect(f);
    MarkReads();
    Peel(&Place::from, &Place::to, &Place::before);
    Peel(&Place::to, &Place::from, &Place::behind);
    auto wanted = [&](uint32_t place) { return places_[place].read && (places_[place].before || places_[place].behind); };
    for (uint32_t f = 0; f < p_.functions.size(); ++f)
      for (uint32_t i = 0; i < p_.functions[FunctionId(f)].params.size(); ++i) p_.functions[FunctionId(f)].params[i].elements = wanted(params_[f] + i);
    std::set<TensorField> fields;
    for (const auto& [field, place] : fields_)
      if (wanted(place)) fields.insert(field);
    return fields;
  }

 private:
  struct Place {
    std::vector<uint32_t> to, from;  // edges
    bool read = false;               // an element is, here or further on
    bool field = false;
    bool before = false, behind = false;  // it leads to a cycle, or comes behind one
  };

  bool IsTensor(ir::TypeId type) const {
    const ir::Type& row = p_.types[type];
    return row.kind == ir::TypeKind::Tensor && !row.dims.empty() && (row.element == ir::TypeKind::Float || row.element == ir::TypeKind::Double);
  }
  uint32_t FieldPlace(TensorField field) {
    auto [it, fresh] = fields_.try_emplace(field, static_cast<uint32_t>(places_.size()));
    if (fresh) places_.emplace_back().field = true;
    return it->second;
  }
  // Where a value comes from, if that is a parameter or a field.
  std::optional<uint32_t> Origin(FunctionId f, Value value) {
    const Function& function = p_.functions[f];
    if (!IsTensor(function.TypeOf(value).type)) return std::nullopt;
    for (;;) {
      const Node& node = function.nodes[value.node];
      if (node.kind == NodeKind::Param) return params_[f.index] + node.attr;
      if (node.kind != NodeKind::Op) return std::nullopt;
      if (node.op == ir::Op::Field) return FieldPlace({function.TypeOf(node.operands[0]).type.index, node.attr >> 16, node.attr & 0xffff});
      if (node.op == ir::Op::Force) value = node.operands[0];
      else if (node.op == ir::Op::Seq) value = node.operands[1];
      else return std::nullopt;
    }
  }
  void Flow(FunctionId f, Value value, uint32_t to) {
    std::optional<uint32_t> from = Origin(f, value);
    if (!from) return;
    places_[*from].to.push_back(to);
    places_[to].from.push_back(*from);
  }

  void Collect(FunctionId f) {
    const Function& function = p_.functions[f];
    for (const Node& node : function.nodes) {
      if (node.kind == NodeKind::Apply || node.kind == NodeKind::Delay) {
        for (uint32_t i = 0; i < node.operands.size(); ++i) Flow(f, node.operands[i], params_[node.callee.index] + i);
      } else if (node.kind == NodeKind::Op && node.op == ir::Op::Construct) {
        for (uint32_t i = 0; i < node.operands.size(); ++i)
          if (IsTensor(function.TypeOf(node.operands[i]).type)) Flow(f, node.operands[i], FieldPlace({node.results[0].type.index, node.attr, i}));
      } else if (node.kind == NodeKind::Op && (node.op == ir::Op::GetElement || node.op == ir::Op::Gather || node.op == ir::Op::SliceAt)) {
        if (std::optional<uint32_t> from = Origin(f, node.operands[0])) places_[*from].read = true;
      }
    }
    for (const Block& block : function.blocks)
      for (uint32_t i = 0; block.again && i < block.yields.size(); ++i) Flow(f, block.yields[i], params_[f.index] + i);
  }

  void MarkReads() {
    std::vector<uint32_t> work;
    for (uint32_t place = 0; place < places_.size(); ++place)
      if (places_[place].read) work.push_back(place);
    while (!work.empty()) {
      uint32_t place = work.back();
      work.pop_back();
      for (uint32_t from : places_[place].from)
        if (!std::exchange(places_[from].read, true)) work.push_back(from);
    }
  }

  // Takes away, again and again, what has no edge in one direction to what is left. What stays leads that way to a cycle, or to a field.
  void Peel(std::vector<uint32_t> Place::*back, std::vector<uint32_t> Place::*on, bool Place::*stays) {
    std::vector<size_t> left(places_.size(), 0);
    std::vector<uint32_t> gone;
    for (uint32_t place = 0; place < places_.size(); ++place) {
      places_[place].*stays = places_[place].read;
      left[place] = static_cast<size_t>(llvm::count_if(places_[place].*on, [&](uint32_t next) { return places_[next].read; }));
      if (places_[place].read && left[place] == 0 && !places_[place].field) gone.push_back(place);
    }
    while (!gone.empty()) {
      uint32_t place = gone.back();
      gone.pop_back();
      places_[place].*stays = false;
      for (uint32_t next : places_[place].*back)
        if (places_[next].read && --left[next] == 0 && !places_[next].field) gone.push_back(next);
    }
  }

  Program& p_;
  std::vector<Place> places_;
  std::vector<uint32_t> params_;  // by function: the first one's place
  std::map<TensorField, uint32_t> fields_;
};

}  // namespace

std::set<TensorField> FindElementReads(Program& program) { return ElementReads(program).Run(); }

}  // namespace df::fg
