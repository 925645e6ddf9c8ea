// What scheduled code does with constructors. Functions of their own, and not a part of the interpreter: there the compiler keeps
// nothing in registers that more than a few instructions need.
#include "runtime/engines/tagged/code/scheduled_data.h"
#include "runtime/engines/tagged/exec/delayed_calls.h"

namespace df::tagged {

int64_t OrderOf(uint64_t x, uint8_t x_state, uint64_t y, uint8_t y_state) {
  // What is no word is beyond all of them.
  auto big = [](uint64_t bits) -> mpz_srcptr { return static_cast<BigInteger*>(ObjectAt(bits))->value; };
  if (x_state != kWord && y_state != kWord) return mpz_cmp(big(x), big(y));
  return x_state != kWord ? mpz_sgn(big(x)) : -mpz_sgn(big(y));
}

namespace {

struct Taken {
  uint64_t bits;
  uint8_t state;
};

// What `field` holds, which is `held`, out of data that nobody else has and that will be freed: the value moves, and so does
// that of a cell that only the field refers to.
inline Taken TakeField(Value* field, const Value* held) {
  Taken taken{BitsOf(*held), StateOf(*held)};
  if (held == field) {
    field->Take();
  } else {
    Count(taken.bits, taken.state);
  }
  return taken;
}

// What was read before an error was met.
bool GiveBackFields(const uint32_t* entry, const uint32_t* end, const uint64_t* s, const uint8_t* k) {
  for (; entry != end; ++entry)
    if (uint32_t d = *entry & (kFieldPlain - 1); !(*entry & kFieldPlain) && k[d] != kWord)
      Value::Adopt(static_cast<ValueKind>(k[d] & 7), ObjectAt(s[d]));
  return false;
}

inline void Release(Data* data) { Value::Adopt(ValueKind::Object, data); }

}  // namespace

bool ReadField(const ScheduledInstr* ip, uint64_t* s, uint8_t* k) {
  uint32_t a = ip->a & ~kLastUse;
  if (k[a] != kObject) return false;
  Data* data = DataAt(s[a]);
  if (data->constructor != ip->x) return false;
  Value* field = &data->fields()[ip->b];
  const Value* held = HeldBy(field);
  if (held->is_error()) return false;
  uint64_t bits = BitsOf(*held);
  uint8_t state = StateOf(*held);
  s[ip->d] = bits;
  k[ip->d] = state;
  if (!(ip->a & kLastUse)) {
    Count(bits, state);
  } else if (CanTakeApart(data)) {
    TakeField(field, held);
    FreeRest(data);
  } else {
    Count(bits, state);
    Release(data);
  }
  return true;
}

namespace {

// Any two fields of any constructor.
[[gnu::noinline]] bool ReadAnyTwoFields(const ScheduledInstr* ip, uint64_t* s, uint8_t* k) {
  uint32_t a = ip->a & ~kLastUse;
  if (k[a] != kObject) return false;
  Data* data = DataAt(s[a]);
  if (data->constructor != ip->x) return false;
  Value* first = &data->fields()[ip->y >> 16];
  Value* second = &data->fields()[ip->y & 0xffff];
  const Value* first_held = HeldBy(first);
  const Value* second_held = HeldBy(second);
  if (first_held->is_error() || second_held->is_error()) return false;
  if ((ip->d & kFieldPlain && !first_held->is_word()) || (ip->b & kFieldPlain && !second_held->is_word())) return false;
  Taken x{BitsOf(*first_held), StateOf(*first_held)}, y{BitsOf(*second_held), StateOf(*second_held)};
  bool last = ip->a & kLastUse;
  if (last && CanTakeApart(data)) {
    TakeField(first, first_held);
    TakeField(second, second_held);
    FreeRest(data);
  } else {
    Count(x.bits, x.state);
    Count(y.bits, y.state);
    if (last) Release(data);
  }
  uint32_t d = ip->d & (kFieldPlain - 1), b = ip->b & (kFieldPlain - 1);
  s[d] = x.bits;
  s[b] = y.bits;
  if (!(ip->d & kFieldPlain)) k[d] = x.state;
  if (!(ip->b & kFieldPlain)) k[b] = y.state;
  return true;
}

}  // namespace

// Nearly always both slots are open; and if this is the last use, it is a cell of a list that nobody else has, which goes.
bool ReadTwoFields(const ScheduledInstr* ip, uint64_t* s, uint8_t* k) {
  uint32_t a = ip->a & ~kLastUse;
  if (k[a] != kObject) return false;
  Data* data = DataAt(s[a]);
  if (data->constructor != ip->x) return false;
  if ((ip->d | ip->b) & kFieldPlain || Sharing()) return ReadAnyTwoFields(ip, s, k);
  Value* first = data->fields() + (ip->y >> 16);
  Value* second = data->fields() + (ip->y & 0xffff);
  const Value* x = HeldBy(first);
  const Value* y = HeldBy(second);
  if (x->is_error() || y->is_error()) return false;
  bool last = ip->a & kLastUse;
  if (last && data->refs.IsOne()) {
    if (data->few_fields != 2 || x != first || y != second || x == y) return ReadAnyTwoFields(ip, s, k);
    s[ip->d] = BitsOf(*x);
    k[ip->d] = StateOf(*x);
    s[ip->b] = BitsOf(*y);
    k[ip->b] = StateOf(*y);
    if (!y->is_word()) __builtin_prefetch(y->object());
    alive::Gone(alive::Kind::Data);
    memory::Free(data, sizeof(Data) + 2 * sizeof(Value));
    return true;
  }
  if (last) data->refs.DropAlone();
  s[ip->d] = BitsOf(*x);
  k[ip->d] = StateOf(*x);
  if (!x->is_word()) x->object()->refs.RetainAlone();
  s[ip->b] = BitsOf(*y);
  k[ip->b] = StateOf(*y);
  if (!y->is_word()) y->object()->refs.RetainAlone();
  return true;
}

namespace {

// The same of data that nobody else has, which goes: what it holds moves. First all is looked at, which may fail; event
// code then goes on from the slots as they were. Each field is looked at once: another worker may fill its cell at any moment.
bool TakeFields(const ScheduledInstr* ip, const uint32_t* list, Data* data, uint64_t* s, uint8_t* k) {
  Value* fields = data->fields();
  const uint32_t count = ip->b;
  const Value* held[kMostFieldsTogether];
  bool in_place = true;  // no field stands for what a cell holds
  for (uint32_t i = 0; i < count; ++i) {
    const Value* field = fields + (list[i] >> 16);
    held[i] = field->is_reference() ? HeldBy(field) : field;
    in_place &= held[i] == field;
    if (list[i] & kFieldPlain ? !held[i]->is_word() : held[i]->is_error()) return false;
  }
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t d = list[i] & (kFieldPlain - 1);
    s[d] = BitsOf(*held[i]);
    if (list[i] & kFieldPlain) continue;
    k[d] = StateOf(*held[i]);
    if (!held[i]->is_word()) __builtin_prefetch(held[i]->object());
  }
  if (in_place && count == data->few_fields) {
    alive::Gone(alive::Kind::Data);
    Data::Free(data);
    return true;
  }
  for (uint32_t i = 0; i < count; ++i)
    if (!(list[i] & kFieldPlain)) TakeField(fields + (list[i] >> 16), held[i]);
  FreeRest(data);
  return true;
}

}  // namespace

bool ReadFields(const ScheduledInstr* ip, const uint32_t* list, uint64_t* s, uint8_t* k) {
  uint32_t a = ip->a & ~kLastUse;
  if (k[a] != kObject) return false;
  Data* data = DataAt(s[a]);
  if (data->constructor != ip->y) return false;
  bool last = ip->a & kLastUse;
  if (last && CanTakeApart(data)) return TakeFields(ip, list, data, s, k);
  Value* fields = data->fields();
  bool alone = !Sharing();
  for (const uint32_t *entry = list, *end = list + ip->b; entry != end; ++entry) {
    const Value* held = HeldBy(fields + (*entry >> 16));
    uint32_t d = *entry & (kFieldPlain - 1);
    if (*entry & kFieldPlain) {
      if (!held->is_word()) return GiveBackFields(list, entry, s, k);
      s[d] = BitsOf(*held);
      continue;
    }
    if (held->is_error()) return GiveBackFields(list, entry, s, k);
    s[d] = BitsOf(*held);
    k[d] = StateOf(*held);
    if (held->is_word()) continue;
    if (alone) held->object()->refs.RetainAlone();
    else held->object()->refs.Retain();
  }
  if (last) Release(data);
  return true;
}

Data* MakeData(const ScheduledInstr* ip, const uint32_t* list, const std::vector<Value>& constants, const uint64_t* s,
               const uint8_t* k) {
  uint32_t count = ip->b;
  if (count == 2) {
    Data* data = Data::NewRaw(ip->y, 2);
    MakeOperand(constants, s, k, list[0], data->fields());
    MakeOperand(constants, s, k, list[1], data->fields() + 1);
    return data;
  }
  Data* data = Data::NewRaw(ip->y, count);
  Value* to = data->fields();
  for (const uint32_t* end = list + count; list != end; ++list, ++to) MakeOperand(constants, s, k, *list, to);
  return data;
}

}  // namespace df::tagged
