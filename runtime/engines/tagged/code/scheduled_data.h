// runtime/engines/tagged/code/scheduled_data.h
//
// Constructors in scheduled code: made from slots, looked into, and taken apart. Inline, because a list's element does each of
// these once or twice. Private to the tagged engine.
#pragma once

#include "runtime/engines/tagged/code/cell.h"
#include "runtime/engines/tagged/code/scheduled.h"

namespace df::tagged {

// States of slots that hold something.
inline constexpr uint8_t kWord = kPresent | static_cast<uint8_t>(ValueKind::Word);
inline constexpr uint8_t kObject = kPresent | static_cast<uint8_t>(ValueKind::Object);
inline constexpr uint8_t kReference = kPresent | static_cast<uint8_t>(ValueKind::Reference);

inline constexpr uint8_t kError = kPresent | static_cast<uint8_t>(ValueKind::Error);

inline Object* ObjectAt(uint64_t bits) { return reinterpret_cast<Object*>(bits); }
inline Data* DataAt(uint64_t bits) { return reinterpret_cast<Data*>(bits); }
inline DelayCell* CellAt(uint64_t bits) { return static_cast<DelayCell*>(ObjectAt(bits)); }
inline void Count(uint64_t bits, uint8_t state) {
  if (state != kWord) ObjectAt(bits)->refs.Retain();
}
// Gives back what a slot held.
inline void ReleaseBits(uint64_t bits, uint8_t state) {
  if (state != kWord) Value::Adopt(static_cast<ValueKind>(state & 7), ObjectAt(bits));
}
inline uint64_t BitsOf(const Value& value) { return static_cast<uint64_t>(value.word()); }
inline uint8_t StateOf(const Value& value) { return static_cast<uint8_t>(kPresent | static_cast<uint8_t>(value.kind())); }

// Ops that only look at a text or a character, what texts are shown and taken apart by: no kernel is asked.
bool IsReading(ir::Op op);
inline bool HasReading(const ScheduledInstr& in) { return in.op == Scheduled::Apply && in.x != 0; }
// Such an instruction. False if the kernel is to say why not.
bool ReadScheduled(const ScheduledInstr& in, const std::vector<Value>& constants, uint64_t* slots, const uint8_t* states);

// Such an op that reads or changes a word of an array, of three operands and more: `y` is 1 more than its attribute, and the highest bit is set
// of one that changes it. `states` get that of the result.
inline bool IsOnWords(const ScheduledInstr& in) { return in.op == Scheduled::ApplyMany && in.y != 0; }
inline constexpr uint32_t kChangesWord = 0x80000000;
bool ApplyOnWords(const ScheduledInstr& in, const uint32_t* operands, const std::vector<Value>& constants, uint64_t* slots, uint8_t* states);

// Below, at or above 0, as the Integer x is to y. Not both are words.
int64_t OrderOf(uint64_t x, uint8_t x_state, uint64_t y, uint8_t y_state);

// What a field stands for: what a filled cell holds is passed on at once. The field still refers to the cell
// (exec/cycles.cpp).
inline const Value* HeldBy(const Value* field) {
  while (field->is_reference() && field->object()->kind == ObjectKind::Delay && CellOf(*field)->IsFull())
    field = &CellOf(*field)->value();
  return field;
}

// What a reference stands for; null: nobody knows yet.
inline const Value* ValueOf(const Object* reference) {
  if (reference->kind == ObjectKind::Delay) [[likely]] {
    auto* cell = static_cast<const DelayCell*>(reference);
    return cell->IsFull() ? &cell->value() : nullptr;
  }
  auto* host = static_cast<const HostCell*>(reference);
  return host->is_full() ? &host->value : nullptr;
}

// Nobody else holds it, and its size stands in its header.
inline bool CanTakeApart(const Data* data) { return data->few_fields < Data::kMostFew && data->refs.IsOne(); }

// Frees one that can be taken apart, with the fields that were not taken out.
inline void FreeRest(Data* data) {
  for (Value *field = data->fields(), *end = field + data->few_fields; field != end; ++field) field->~Value();
  alive::Gone(alive::Kind::Data);
  Data::Free(data);
}

// An operand of a list in scheduled code, at `to`, where there is no value yet.
inline void MakeOperand(const std::vector<Value>& constants, const uint64_t* s, const uint8_t* k, uint32_t operand, Value* to) {
  uint32_t slot = operand & kOperandIndex;
  if (operand & kPlainOperand) {
    ::new (to) Value(Value::Word(static_cast<int64_t>(s[slot])));
  } else if (!(operand & kConstant)) [[likely]] {
    auto kind = static_cast<ValueKind>(k[slot] & 7);
    uint64_t bits = s[slot];
    if (!(operand & kLastOperand) && kind != ValueKind::Word) ObjectAt(bits)->refs.Retain();
    ::new (to) Value(Value::Adopt(kind, ObjectAt(bits)));
  } else {
    ::new (to) Value(constants[operand & ~kConstant]);
  }
}

// Fields of one constructor that are read together. An entry of the list of Scheduled::Fields has the field's index in its upper
// half, and in its lower half the slot, with kFieldPlain if that is plain; of Scheduled::TwoFields the slots are operands.
inline constexpr uint32_t kFieldPlain = 0x8000;
inline constexpr uint32_t kMostFieldsTogether = 8;

// The instructions of these names (code/scheduled_ops.def), on the slots and states of a frame. False: nothing was done, and the
// event code says what is wrong.
bool ReadField(const ScheduledInstr* ip, uint64_t* s, uint8_t* k);
bool ReadTwoFields(const ScheduledInstr* ip, uint64_t* s, uint8_t* k);
bool ReadFields(const ScheduledInstr* ip, const uint32_t* list, uint64_t* s, uint8_t* k);
// What Scheduled::Construct makes. Throws std::bad_alloc.
Data* MakeData(const ScheduledInstr* ip, const uint32_t* list, const std::vector<Value>& constants, const uint64_t* s,
               const uint8_t* k);

}  // namespace df::tagged
