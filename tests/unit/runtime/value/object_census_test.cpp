// What is counted as alive, and how what is left is said.
#include "runtime/base/memory.h"
#include "runtime/base/object_census.h"
#include "runtime/value/value.h"
#include "tests/unit/catch.h"

using namespace df;

TEST_CASE("what is left behind is named by kind and number", "[alive]") {
  alive::Counts before{}, after{};
  CHECK(alive::Left(before, before).empty());
  before[static_cast<size_t>(alive::Kind::Text)] = 5;
  after[static_cast<size_t>(alive::Kind::Text)] = 6;
  after[static_cast<size_t>(alive::Kind::Data)] = 2;
  CHECK(alive::Left(before, after) == "2 constructors, 1 text");
}

TEST_CASE("values are counted while they are alive, in builds that verify", "[alive]") {
  alive::Counts before = alive::Now();
  {
    Value list = Value::Word(0);
    for (int64_t i = 0; i < 3; ++i) {
      Data* cell = Data::New(1, 2);
      cell->fields()[0] = Value::Word(i);
      cell->fields()[1] = std::move(list);
      list = Value::Adopt(ValueKind::Object, cell);
    }
    Value text = Value::Adopt(ValueKind::Object, new TextObject("abc"));
    CHECK(alive::Left(before, alive::Now()) == (alive::kCounted ? "3 constructors, 1 text" : ""));
    // A value that was lost: its count was given away and nobody has it.
    Object* lost = Value(text).Take();
    text = Value::Word(0);
    CHECK(alive::Left(before, alive::Now()) == (alive::kCounted ? "3 constructors, 1 text" : ""));
    Value::Adopt(ValueKind::Object, lost);
    CHECK(alive::Left(before, alive::Now()) == (alive::kCounted ? "3 constructors" : ""));
  }
  CHECK(alive::Left(before, alive::Now()).empty());
}

TEST_CASE("a long release can be given up, and done later", "[alive]") {
  constexpr int64_t kLong = 200000;
  struct Taker : DeadObjects::Watch {
    DeadObjects left;
    int asked = 0;
    bool Take(DeadObjects& now) override {
      ++asked;
      now.MoveTo(left);
      return true;
    }
  } taker;
  alive::Counts before = alive::Now();
  int64_t bytes = memory::counters.current;
  Value list = Value::Word(0);
  for (int64_t i = 0; i < kLong; ++i) {
    Data* cell = Data::New(1, 2);
    cell->fields()[0] = Value::Word(i);
    cell->fields()[1] = std::move(list);
    list = Value::Adopt(ValueKind::Object, cell);
  }
  {
    DeadObjects::WatchScope watch(&taker);
    list = Value::Word(0);
  }
  CHECK(taker.asked == 1);
  CHECK(DeadObjects::watch == nullptr);
  CHECK(memory::counters.current > bytes + kLong);  // most of it is still there
  taker.left.FreeAll();
  CHECK(memory::counters.current == bytes);
  CHECK(alive::Left(before, alive::Now()).empty());
}
