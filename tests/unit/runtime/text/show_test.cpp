// Values as GHC's show prints them, and inputs read back. The expectations are GHC 9.0's output.
#include "runtime/value/integer.h"
#include "runtime/value/text.h"
#include "tests/unit/catch.h"
#include "tests/unit/runtime/evaluated.h"

using namespace df;
using namespace df::test;
using ir::TypeKind;

namespace {

// Types in the manner of Haskell's.
struct Types {
  ir::Graph graph;
  ir::PortType of(TypeKind kind) const { return {graph.types.Builtin(kind), false}; }

  ir::PortType Data(std::string name, std::vector<ir::Constructor> constructors) {
    ir::TypeId id = graph.types.AddData(std::move(name));
    graph.types[id].constructors = std::move(constructors);
    return {id, false};
  }
  static ir::FieldType Field(ir::PortType type, std::string name = "") { return {type, false, std::move(name)}; }

  ir::PortType Pair(ir::PortType a, ir::PortType b) { return Data("pair", {{"(,)", {Field(a), Field(b)}}}); }
  ir::PortType List(ir::PortType element) {
    ir::PortType list = Data("list", {});
    graph.types[list.type].constructors = {{"[]", {}}, {":", {Field(element), Field(list)}}};
    return list;
  }

  // Reads and shows again.
  std::string Round(ir::PortType type, std::string_view text) {
    std::string error;
    auto value = ParseInput(graph, type, text, &error);
    if (!value) return error;
    return Shown(graph, type, *value);
  }
};

}  // namespace

TEST_CASE("numbers of input are read and shown") {
  Types t;
  CHECK(t.Round(t.of(TypeKind::Int), " 30 ") == "30");
  CHECK(t.Round(t.of(TypeKind::Int), "(-5)") == "-5");
  CHECK(t.Round(t.of(TypeKind::Int), "-9223372036854775808") == "-9223372036854775808");
  CHECK(t.Round(t.of(TypeKind::Int), "9223372036854775808") == "`9223372036854775808` is not an Int");
  CHECK(t.Round(t.of(TypeKind::Int), "abc") == "`abc` is not an Int");
  CHECK(t.Round(t.of(TypeKind::Int), "") == "`` is not an Int");
  CHECK(t.Round(t.of(TypeKind::Int), "3 4") == "`3 4` is not an Int");
  CHECK(t.Round(t.of(TypeKind::Integer), "-9223372036854775809") == "-9223372036854775809");
  CHECK(t.Round(t.of(TypeKind::Double), "1") == "1.0");
  CHECK(t.Round(t.of(TypeKind::Double), "1e23") == "9.999999999999999e22");
  CHECK(t.Round(t.of(TypeKind::Double), "0.1") == "0.1");
  CHECK(t.Round(t.of(TypeKind::Double), "0.09") == "9.0e-2");
  CHECK(t.Round(t.of(TypeKind::Double), "9999999") == "9999999.0");
  CHECK(t.Round(t.of(TypeKind::Double), "1e7") == "1.0e7");
  CHECK(t.Round(t.of(TypeKind::Double), "5e-324") == "5.0e-324");
  CHECK(t.Round(t.of(TypeKind::Double), "-0.0") == "-0.0");
  CHECK(t.Round(t.of(TypeKind::Double), "-Infinity") == "-Infinity");
  CHECK(t.Round(t.of(TypeKind::Double), "NaN") == "NaN");
  CHECK(t.Round(t.of(TypeKind::Float), "0.1") == "0.1");
  CHECK(t.Round(t.of(TypeKind::Float), "16777217") == "1.6777216e7");
  CHECK(t.Round(t.of(TypeKind::Bool), "True") == "True");
  CHECK(t.Round(t.of(TypeKind::Bool), "Truely") == "`Truely` is not a Bool");
  CHECK(t.Round(t.of(TypeKind::Unit), "()") == "()");
}

TEST_CASE("characters and strings are escaped as GHC does") {
  Types t;
  CHECK(t.Round(t.of(TypeKind::Char), "'a'") == "'a'");
  CHECK(t.Round(t.of(TypeKind::Char), "a") == "'a'");
  CHECK(t.Round(t.of(TypeKind::Char), "'\\''") == "'\\''");
  CHECK(t.Round(t.of(TypeKind::Char), "'\"'") == "'\"'");
  CHECK(t.Round(t.of(TypeKind::Char), "'\\SOH'") == "'\\SOH'");
  CHECK(t.Round(t.of(TypeKind::Char), "'\\DEL'") == "'\\DEL'");
  CHECK(t.Round(t.of(TypeKind::Char), "'\xC3\xA4'") == "'\\228'");
  CHECK(t.Round(t.of(TypeKind::Char), "'\\1114112'") == "`'\\1114112'` is not a Char");
  ir::PortType string = t.List(t.of(TypeKind::Char));
  CHECK(t.Round(string, R"("")") == R"("")");
  CHECK(t.Round(string, R"("a\"b'\\\n")") == R"("a\"b'\\\n")");
  CHECK(t.Round(string, R"("\1234\&5")") == R"("\1234\&5")");
  CHECK(t.Round(string, R"("\SO\&H\SOH")") == R"("\SO\&H\SOH")");
  CHECK(t.Round(string, R"("\228x")") == R"("\228x")");
  CHECK(t.Round(t.of(TypeKind::Text), R"("\1234\&5 \200")") == R"("\1234\&5 \200")");
  CHECK(t.Round(t.List(string), R"(["a","b"])") == R"(["a","b"])");
}

TEST_CASE("tuples, lists and constructors are shown as derived instances do") {
  Types t;
  ir::PortType integer = t.of(TypeKind::Int), real = t.of(TypeKind::Double);
  CHECK(t.Round(t.Pair(integer, t.of(TypeKind::Bool)), "( -3 , True )") == "(-3,True)");
  CHECK(t.Round(t.List(integer), "[]") == "[]");
  CHECK(t.Round(t.List(integer), "[1, -2,3]") == "[1,-2,3]");
  CHECK(t.Round(t.List(t.Pair(integer, real)), "[(1,2),(3,4e9)]") == "[(1,2.0),(3,4.0e9)]");
  ir::PortType maybe = t.Data("Maybe Double", {{"Nothing", {}}, {"Just", {Types::Field(real)}}});
  CHECK(t.Round(maybe, "Nothing") == "Nothing");
  CHECK(t.Round(maybe, "Just (-0.0)") == "Just (-0.0)");
  ir::PortType nested = t.Data("Maybe (Maybe Double)", {{"Nothing", {}}, {"Just", {Types::Field(maybe)}}});
  CHECK(t.Round(nested, "Just (Just 2)") == "Just (Just 2.0)");
  CHECK(t.Round(t.Pair(nested, maybe), "(Just Nothing,Just 1)") == "(Just Nothing,Just 1.0)");
}

TEST_CASE("records and constructor operators are shown as derived instances do") {
  Types t;
  ir::PortType integer = t.of(TypeKind::Int);
  ir::PortType point = t.Data("P", {{"P", {Types::Field(integer, "x"), Types::Field(integer, "+++")}}});
  ir::PortType infix = t.Data("I", {{":+", {Types::Field(integer), Types::Field(point)}}});
  ir::PortType box = t.Data("B", {{"B", {Types::Field(infix)}}});
  auto make = [](uint32_t constructor, std::vector<Value> fields) {
    Data* data = Data::New(constructor, static_cast<uint32_t>(fields.size()));
    for (size_t i = 0; i < fields.size(); ++i) data->fields()[i] = fields[i];
    return Value::Adopt(ValueKind::Object, data);
  };
  Value p = make(0, {Value::Word(-1), Value::Word(2)});
  Value value = make(0, {make(0, {Value::Word(-1), p})});
  Evaluated execution;
  std::string shown;
  llvm::raw_string_ostream out(shown);
  Show(execution, t.graph, box, value, out);
  CHECK(shown == "B ((-1) :+ P {x = -1, (+++) = 2})");
}

TEST_CASE("a number is read as it is written") {
  ir::Graph graph;
  auto read = [&](ir::TypeKind kind, const char* digits) {
    std::optional<Value> value = text::ReadNumber(kind, digits);
    return value ? Shown(graph, {graph.types.Builtin(kind), false}, *value) : "none";
  };
  CHECK(read(ir::TypeKind::Int, "-12") == "-12");
  CHECK(read(ir::TypeKind::Int, "18446744073709551617") == "1");  // wraps
  CHECK(read(ir::TypeKind::Integer, "-170141183460469231731687303715884105728") == "-170141183460469231731687303715884105728");
  CHECK(read(ir::TypeKind::Double, "-0.1e2") == "-10.0");
  CHECK(read(ir::TypeKind::Double, "9007199254740993") == "9.007199254740992e15");
  CHECK(read(ir::TypeKind::Double, "1e400") == "Infinity");
  CHECK(read(ir::TypeKind::Double, "-Infinity") == "-Infinity");
  CHECK(read(ir::TypeKind::Float, "16777217") == "1.6777216e7");
  CHECK(read(ir::TypeKind::Float, "NaN") == "NaN");
  for (const char* wrong : {"", "-", "+1", "1.", ".5", "1e", "1e+", "0x10", "1 ", "--1", "inf", "nan", "Infinity1"}) {
    INFO(wrong);
    for (ir::TypeKind kind : {ir::TypeKind::Int, ir::TypeKind::Integer, ir::TypeKind::Float, ir::TypeKind::Double})
      CHECK(read(kind, wrong) == "none");
  }
  CHECK(read(ir::TypeKind::Int, "1.5") == "none");
  CHECK(read(ir::TypeKind::Integer, "1e5") == "none");
}
