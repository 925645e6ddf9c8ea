// Memory of values: counted, limited, given back.
#include "runtime/value/value.h"

#include "runtime/base/memory.h"
#include "runtime/value/integer.h"
#include "tests/unit/catch.h"

using namespace df;

TEST_CASE("memory is counted and given back") {
  int64_t before = memory::counters.current;
  {
    Value big = integer::ShiftL(Value::Word(1), 1 << 20, UINT64_MAX);
    CHECK(memory::counters.current >= before + (1 << 17));
    memory::LimitScope scope(before, 1 << 16);
    CHECK_THROWS_AS(Data::New(0, 3), std::bad_alloc);
  }
  CHECK(memory::counters.current == before);
}

TEST_CASE("a value a million deep is freed without recursion") {
  int64_t before = memory::counters.current;
  Value list = Value::Word(0);
  for (int i = 0; i < 1000000; ++i) {
    Data* cell = Data::New(1, 2);
    cell->fields()[0] = Value::Word(i);
    cell->fields()[1] = std::move(list);
    list = Value::Adopt(ValueKind::Object, cell);
  }
  list = Value();
  CHECK(memory::counters.current == before);
}
