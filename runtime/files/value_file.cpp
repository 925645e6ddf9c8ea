// Values from and to files of arrays: see value_file.h.
#include "runtime/files/value_file.h"

#include <cstring>

#include "fmt/format.h"
#include "lang/utf8.h"
#include "runtime/value/tensor.h"
#include "runtime/value/text_list.h"
#include "runtime/value/value_type.h"

namespace df {
namespace {

using ir::TypeKind;

constexpr int kMaxNesting = 1000;
constexpr size_t kMostExplained = 100;

FileElement ElementOf(TypeKind kind) {
  switch (kind) {
    case TypeKind::Bool: return FileElement::Bool;
    case TypeKind::Float: return FileElement::Float32;
    case TypeKind::Double: return FileElement::Float64;
    default: return FileElement::Int64;
  }
}

std::string_view NumpyName(TypeKind kind) {
  switch (kind) {
    case TypeKind::Bool: return "bool";
    case TypeKind::Float: return "<f4";
    case TypeKind::Double: return "<f8";
    default: return "<i8";
  }
}

std::string_view TorchMethod(TypeKind kind) {
  switch (kind) {
    case TypeKind::Bool: return ".bool()";
    case TypeKind::Float: return ".float()";
    case TypeKind::Double: return ".double()";
    default: return ".long()";
  }
}

// Numpy's names of elements begin with the order of the bytes.
bool IsOfNumpy(const FileArray& array) { return !array.element_name.empty() && llvm::StringRef("<>|=").contains(array.element_name[0]); }

// How an array is written so that its elements are those of `kind`. What safetensors has may come from PyTorch, and of BF16 and the 8-bit floats from nothing else, for numpy has none.
std::string Conversion(const FileArray& array, TypeKind kind) {
  llvm::StringRef name = array.element_name;
  const bool of_numpy = IsOfNumpy(array);
  const std::string_view numpy = NumpyName(kind), torch = TorchMethod(kind);
  if (of_numpy && name.substr(1, 1) == "O")
    return fmt::format("its elements are Python objects; make an array of numbers with numpy.array(rows, dtype='{}'), of rows that are equally long", numpy);
  if (name.starts_with("[")) return "its elements have several fields; save each as an array of its own, array['FIELD']";
  if (of_numpy && name.substr(1, 1) == "c") return fmt::format("write its .real.astype('{}')", numpy);
  if (of_numpy) return fmt::format("write it with .astype('{}')", numpy);
  if (name == "C64") return fmt::format("write its .real{} in PyTorch, .real.astype('{}') in numpy", torch, numpy);
  if (name == "BF16" || name.starts_with("F8")) return fmt::format("write it with {} in PyTorch", torch);
  return fmt::format("write it with {} in PyTorch, .astype('{}') in numpy", torch, numpy);
}

// How a matrix that lies the wrong way round is written.
std::string_view Transposition(const FileArray& array) {
  if (IsOfNumpy(array)) return "rows and columns have changed places, so write numpy.ascontiguousarray(array.T)";
  return "rows and columns have changed places, as in the weight of PyTorch's Linear, so write array.T.contiguous()";
}

// What a tensor of a scalar's type has for elements: an Integer is stored if it is an Int, and of () there is nothing to tell but how many.
TypeKind TensorElement(TypeKind scalar) {
  if (scalar == TypeKind::Unit) return TypeKind::Bool;
  return scalar == TypeKind::Integer ? TypeKind::Int : scalar;
}
// Of these a list is one array.
bool IsArrayElement(TypeKind kind) { return IsScalar(kind) || kind == TypeKind::Unit; }

// ---------------------------------------------------------------- reading

class Reader {
 public:
  Reader(const ir::Graph& graph, ArrayFile& file, std::string_view name)
      : graph_(graph), file_(file), name_(name), presence_(graph.types) {}

  std::optional<Value> All(ir::TypeId type, std::string* error, std::vector<SurplusArray>* unused) {
    constexpr size_t kMost = 5;
    used_.assign(file_.arrays().size(), false);
    Value value = Field(type, "", 0);
    const size_t others = faults_.size();
    bool unexplained = false;
    for (size_t i = 0, explained = 0; i < used_.size() && !gave_up_; ++i) {
      if (used_[i]) continue;
      // Of a file of thousands of arrays only what is told is worth a search.
      const std::string& name = file_.arrays()[i].name;
      SurplusArray surplus = explained++ < kMostExplained ? lacking_.Explain(name) : SurplusArray{name, ""};
      if (unused) unused->push_back(std::move(surplus));
      else {
        unexplained |= surplus.remark.empty();
        Fault(TooMuch(surplus));
      }
    }
    if (faults_.empty()) return value;
    std::string name, prefix = gave_up_ ? "" : lacking_.CommonPrefix(file_, &name);
    if (!prefix.empty()) {
      *error = fmt::format("the names of all arrays in the file begin with `{0}`, and {1} is looked for, not `{0}{2}`: save them without it, in Python as "
                           "{{name.removeprefix('{0}'): array for name, array in arrays.items()}}",
                           prefix, Quoted(name), name);
      return std::nullopt;
    }
    error->clear();
    for (size_t i = 0; i < std::min(kMost, faults_.size()); ++i) *error += (i ? "; " : "") + faults_[i];
    if (faults_.size() > kMost) *error += fmt::format("; and {} more", faults_.size() - kMost);
    if (unexplained && others == 0) *error += fmt::format("; it has to be saved with the arrays of the type alone: {}", Used());
    return std::nullopt;
  }

 private:
  // The arrays that the type asked for.
  std::string Used() const {
    constexpr size_t kMost = 8;
    std::string names;
    size_t count = 0;
    for (size_t i = 0; i < used_.size(); ++i)
      if (used_[i] && ++count <= kMost) names += fmt::format("{}`{}`", names.empty() ? "" : ", ", file_.arrays()[i].name);
    if (count > kMost) names += fmt::format(" and {} more", count - kMost);
    return names.empty() ? "none of these" : names;
  }
  Value Fault(std::string what) {
    faults_.push_back(std::move(what));
    return {};
  }
  // What else there is to read is not known any more, and so not what is too much.
  Value GiveUp(std::string what) {
    gave_up_ = true;
    return Fault(std::move(what));
  }
  std::string Quoted(const std::string& path) const { return fmt::format("`{}`", path.empty() ? name_ : path); }

  // What stands in a field of a constructor, or is all.
  Value Field(ir::TypeId type, const std::string& path, int nesting) {
    uint32_t nothing, just;
    ir::TypeId held;
    if (!presence_.Plain(type, &nothing, &just, &held)) return Read(type, path, nesting);
    if (!file_.HasBelow(path)) {
      lacking_.Add(path);
      return Value::Word(nothing);
    }
    Value value = Read(held, path, nesting + 1);
    return Build(just, {&value, 1});
  }

  Value Read(ir::TypeId type, const std::string& path, int nesting) {
    if (gave_up_) return {};
    if (nesting > kMaxNesting) return GiveUp(Quoted(path) + " is nested too deep");
    const ir::Type& row = graph_.types[type];
    switch (row.kind) {
      case TypeKind::Unit:
        if (!path.empty()) return Value::Word(0);
        return GiveUp(fmt::format("{} is of type (), which no array holds", Quoted(path)));
      case TypeKind::Tensor: return Array(path, row.element, row.dims, row.name);
      case TypeKind::Text: return Text(path, nullptr);
      case TypeKind::Data: return Structure(type, row, path, nesting);
      case TypeKind::Bool:
      case TypeKind::Int:
      case TypeKind::Integer:
      case TypeKind::Float:
      case TypeKind::Double: {
        Value element = Array(path, TensorElement(row.kind), {}, graph_.types.Print({type}));
        const TensorObject* tensor = TensorIn(element);
        return tensor ? df::ElementOf(*tensor, 0) : Value();
      }
      default: return GiveUp(fmt::format("{} is of type {}, which no array holds", Quoted(path), graph_.types.Print({type})));
    }
  }

  Value Missing(const std::string& path, const ir::Type& row) {
    lacking_.Add(path);
    return Fault(fmt::format("{} is missing, which is to be {}", Quoted(path), WithArticle(row.name)));
  }

  // The array of a value that is one; null, and reported, if there is none.
  const FileArray* Find(const std::string& path, const std::string& type) {
    const FileArray* array = file_.Find(path.empty() && !file_.Find("") ? name_ : path);
    if (!array && path.empty() && file_.arrays().size() == 1) array = &file_.arrays()[0];
    if (!array) {
      lacking_.Add(path);
      Fault(fmt::format("{} is missing, which is to be {}", Quoted(path), WithArticle(type)));
    } else {
      used_[array - file_.arrays().data()] = true;
    }
    return array;
  }
  // `how` says how it could be written, if nothing but the elements is wrong.
  Value Mismatch(const FileArray& array, const std::string& type, std::string_view how = "") {
    return Fault(fmt::format("{} an array of `{}` with the shape {}, and {} is expected{}{}",
                             array.name.empty() ? "the file has" : fmt::format("`{}` is", array.name), array.element_name,
                             ir::ShapeText(array.dims), WithArticle(type), how.empty() ? "" : ": ", how));
  }
  bool ReadBytes(const FileArray& array, char* to) {
    std::string error;
    if (file_.Read(array, {to, array.size}, &error)) return true;
    Fault(error);
    return false;
  }

  Value Array(const std::string& path, TypeKind element, llvm::ArrayRef<int64_t> dims, const std::string& type) {
    const FileArray* array = Find(path, type);
    return array ? Elements(*array, element, dims, type) : Value();
  }

  // A tensor of the array's elements.
  Value Elements(const FileArray& array, TypeKind element, llvm::ArrayRef<int64_t> dims, const std::string& type) {
    bool narrow = element == TypeKind::Int && array.element == FileElement::Int32;
    if (llvm::ArrayRef(array.dims) != dims)
      return Mismatch(array, type, dims.size() == 2 && array.dims == std::vector<int64_t>{dims[1], dims[0]} ? Transposition(array) : "");
    if (array.element != ElementOf(element) && !narrow) return Mismatch(array, type, Conversion(array, element));
    if (array.column_major)
      return Fault(fmt::format("the array{} is in column-major order: write it with numpy.ascontiguousarray",
                               array.name.empty() ? "" : fmt::format(" `{}`", array.name)));
    Value value = MakeTensor(element, dims);
    TensorObject& tensor = *TensorIn(value);
    if (narrow) {
      Value bytes = MakeTensor(TypeKind::Float, dims);  // as wide
      if (!ReadBytes(array, TensorIn(bytes)->data())) return {};
      for (size_t i = 0; i < tensor.count(); ++i) tensor.as<int64_t>()[i] = TensorIn(bytes)->as<int32_t>()[i];
    } else if (!ReadBytes(array, tensor.data())) {
      return {};
    }
    if (element == TypeKind::Bool)
      for (size_t i = 0; i < tensor.count(); ++i)
        if (tensor.as<uint8_t>()[i] > 1) return Fault("the file is damaged: a truth value is neither 0 nor 1");
    return value;
  }

  // A packed text, or a list of characters.
  Value Text(const std::string& path, const ir::ListType* list) {
    const FileArray* array = Find(path, "text");
    if (!array) return {};
    if (array->element != FileElement::Byte || array->dims.size() != 1) return Mismatch(*array, "text of UTF-8 bytes");
    Value counted = MakeTensor(TypeKind::Bool, array->dims);  // as wide; counts against the limit
    if (!ReadBytes(*array, TensorIn(counted)->data())) return {};
    std::string bytes(TensorIn(counted)->data(), array->size);
    if (std::string fault = Utf8Fault(bytes); !fault.empty()) return Fault(fmt::format("`{}`: {}", array->name, fault));
    return list ? LazyText(*list, std::move(bytes)) : Value::Adopt(ValueKind::Object, new TextObject(bytes));
  }

  Value Structure(ir::TypeId type, const ir::Type& row, const std::string& path, int nesting) {
    ir::ListType list;
    const ir::TypeId element = ListElement(graph_.types, type, &list);
    // A .npy file.
    if (!element.valid() && path.empty() && file_.arrays().size() == 1 && file_.arrays()[0].name.empty())
      return GiveUp(fmt::format("the file has one array without a name, and the parts of {} are arrays with names, as .npz and .safetensors files have them",
                                WithArticle(row.name)));
    if (element.valid()) return List(type, element, list, path, nesting);
    if (row.constructors.size() == 1 && !row.constructors[0].fields.empty()) {
      if (presence_.Always(type) && !file_.HasBelow(path)) return Missing(path, row);
      return Fields(row, 0, path, nesting);
    }
    std::string names;
    std::optional<uint32_t> found;
    for (uint32_t i = 0; i < row.constructors.size(); ++i) {
      std::string below = JoinPath(path, row.constructors[i].name);
      names += (names.empty() ? "`" : " or `") + below + "`";
      if (!file_.HasBelow(below)) continue;
      if (found) return GiveUp(fmt::format("{} is two constructors of {} at once", Quoted(path), row.name));
      found = i;
    }
    if (!found) {
      for (const ir::Constructor& c : row.constructors) lacking_.Add(JoinPath(path, c.name));
      return Fault(fmt::format("{} is missing, which is to be {}: {}", Quoted(path), WithArticle(row.name), names));
    }
    std::string below = JoinPath(path, row.constructors[*found].name);
    if (row.constructors[*found].fields.empty()) return Empty(below), Value::Word(*found);
    if (file_.Find(below)) Empty(below);
    return Fields(row, *found, below, nesting);
  }

  // The array without elements that stands for an empty list, and for a constructor or an element of a list without arrays.
  void Empty(const std::string& path) {
    constexpr int64_t kNone[] = {0};
    Array(path, TypeKind::Bool, kNone, "Tensor Bool [0]");
  }

  Value Fields(const ir::Type& row, uint32_t constructor, const std::string& path, int nesting) {
    const ir::Constructor& c = row.constructors[constructor];
    std::vector<Value> fields(c.fields.size());
    for (size_t k = 0; k < fields.size(); ++k) fields[k] = Field(c.fields[k].type.type, JoinPath(path, FieldPart(c, k)), nesting + 1);
    return Build(constructor, fields);
  }

  Value List(ir::TypeId type, ir::TypeId element, const ir::ListType& list, const std::string& path, int nesting) {
    TypeKind kind = graph_.types.Kind(element);
    if (kind == TypeKind::Char) return Text(path, &list);
    std::vector<Value> elements;
    if (IsArrayElement(kind)) {
      std::string name = graph_.types.Print({type});
      const FileArray* array = Find(path, name);
      if (!array) return {};
      if (array->dims.size() != 1) return Mismatch(*array, name);
      Value numbers = Elements(*array, TensorElement(kind), array->dims, name);
      const TensorObject* tensor = TensorIn(numbers);
      if (!tensor) return {};
      for (size_t i = 0; i < tensor->count(); ++i) elements.push_back(kind == TypeKind::Unit ? Value::Word(0) : df::ElementOf(*tensor, i));
    } else {
      for (size_t i = 0;; ++i) {
        std::string below = JoinPath(path, std::to_string(i));
        if (!file_.HasBelow(below)) {
          if (i > 0) lacking_.AddEnd(below);
          break;
        }
        if (!presence_.Always(element) && file_.Find(below)) Empty(below);
        elements.push_back(Read(element, below, nesting + 1));
      }
      if (elements.empty()) return Rows(type, path);
    }
    Value value = Value::Word(list.nil);
    for (; !elements.empty(); elements.pop_back()) value = Cons(list, std::move(elements.back()), std::move(value));
    return value;
  }

  // What a list's array has of dimensions, if it is one array; -1 is a list, whose length the file says.
  struct Grid {
    TypeKind element;
    llvm::SmallVector<int64_t, 4> dims;
  };
  bool GridOf(ir::TypeId type, Grid* grid) const {
    const ir::Type& row = graph_.types[type];
    if (row.kind == TypeKind::Tensor || IsScalar(row.kind)) {
      grid->element = row.kind == TypeKind::Tensor ? row.element : TensorElement(row.kind);
      grid->dims.append(row.dims.begin(), row.dims.end());
      return true;
    }
    ir::ListType list;
    ir::TypeId element = ListElement(graph_.types, type, &list);
    grid->dims.push_back(-1);
    return element.valid() && grid->dims.size() <= kMaxNesting && GridOf(element, grid);
  }

  // A list of tensors, or of lists of numbers, that is one array: its elements are the rows of that. Or the empty list.
  Value Rows(ir::TypeId type, const std::string& path) {
    std::string name = graph_.types.Print({type});
    Grid grid;
    bool fits = GridOf(type, &grid);
    const FileArray* array = Find(path, fmt::format("{}: elements are {}, .. (none: BOOL of the shape [0])", name, Quoted(JoinPath(path, "0"))));
    if (!array) return {};
    if (array->element == FileElement::Bool && array->dims == std::vector<int64_t>{0}) return Nil(type);
    fits &= array->dims.size() == grid.dims.size();
    for (size_t i = 0; fits && i < grid.dims.size(); ++i) fits = grid.dims[i] == -1 || grid.dims[i] == array->dims[i];
    // Of rows without elements a few bytes could claim any number.
    constexpr int64_t kMostEmpty = 1 << 20;
    int64_t rows = 1;
    for (size_t i = 0; fits && array->size == 0 && i < grid.dims.size() && grid.dims[i] == -1 && array->dims[i] > 0; ++i) {
      fits = array->dims[i] <= kMostEmpty / rows;
      if (fits) rows *= array->dims[i];
    }
    if (!fits) return Mismatch(*array, name);
    Value all = Elements(*array, grid.element, array->dims, name);
    const TensorObject* tensor = TensorIn(all);
    size_t at = 0;
    return tensor ? Part(type, *tensor, array->dims, &at) : Value();
  }

  Value Nil(ir::TypeId type) const {
    ir::ListType list;
    ListElement(graph_.types, type, &list);
    return Value::Word(list.nil);
  }

  // A value of that type from the elements from `at` on, which goes behind them.
  Value Part(ir::TypeId type, const TensorObject& all, llvm::ArrayRef<int64_t> dims, size_t* at) const {
    const ir::Type& row = graph_.types[type];
    if (IsScalar(row.kind)) return df::ElementOf(all, (*at)++);
    if (row.kind == TypeKind::Tensor) {
      Value value = MakeTensor(row.element, row.dims);
      TensorObject& part = *TensorIn(value);
      size_t width = part.bytes() / std::max<size_t>(part.count(), 1);
      if (part.count()) std::memcpy(part.data(), all.data() + *at * width, part.bytes());
      *at += part.count();
      return value;
    }
    ir::ListType list;
    ir::TypeId element = ListElement(graph_.types, type, &list);
    std::vector<Value, memory::Allocator<Value>> elements;  // as many as the file says, which has perhaps no bytes for them
    for (int64_t i = 0; i < dims[0]; ++i) elements.push_back(Part(element, all, dims.drop_front(), at));
    Value value = Value::Word(list.nil);
    for (; !elements.empty(); elements.pop_back()) value = Cons(list, std::move(elements.back()), std::move(value));
    return value;
  }

  static Value Build(uint32_t constructor, llvm::MutableArrayRef<Value> fields) {
    Data* data = Data::New(constructor, static_cast<uint32_t>(fields.size()));
    for (size_t k = 0; k < fields.size(); ++k) data->fields()[k] = std::move(fields[k]);
    return Value::Adopt(ValueKind::Object, data);
  }

  const ir::Graph& graph_;
  ArrayFile& file_;
  std::string name_;
  Presence presence_;
  LackingNames lacking_;
  std::vector<bool> used_;
  std::vector<std::string> faults_;
  bool gave_up_ = false;
};

// ---------------------------------------------------------------- writing

class Writer {
 public:
  Writer(Execution& execution, const ir::Graph& graph, std::string_view name, std::vector<ValueArray>* arrays, std::string* fault)
      : execution_(execution), graph_(graph), name_(name), presence_(graph.types), arrays_(*arrays), fault_(*fault) {}

  Outcome Field(ir::TypeId type, Value value, const std::string& path, int nesting) {
    uint32_t nothing, just;
    ir::TypeId held;
    if (!presence_.Plain(type, &nothing, &just, &held)) return Write(type, std::move(value), path, nesting);
    if (Outcome outcome = execution_.Force(value); !outcome.ok()) return outcome;
    return value.is_word() ? Outcome() : Write(held, static_cast<Data*>(value.object())->fields()[0], path, nesting + 1);
  }

  Outcome Write(ir::TypeId type, Value value, const std::string& path, int nesting) {
    if (!fault_.empty()) return {};
    if (nesting > kMaxNesting) return Fault(path, "is nested too deep");
    if (Outcome outcome = execution_.Force(value); !outcome.ok()) return outcome;
    const ir::Type& row = graph_.types[type];
    switch (row.kind) {
      case TypeKind::Unit:
        if (path.empty()) return Fault(path, "is of type ()");
        return {};
      case TypeKind::Tensor: {
        ValueArray& array = Add(path, ElementOf(row.element), row.dims);
        array.tensor = std::move(value);
        return {};
      }
      case TypeKind::Text: {
        std::string_view text = static_cast<TextObject*>(value.object())->text();
        Add(path, FileElement::Byte, {static_cast<int64_t>(text.size())}).bytes = text;
        return {};
      }
      case TypeKind::Data: return Structure(type, row, std::move(value), path, nesting);
      case TypeKind::Bool:
      case TypeKind::Int:
      case TypeKind::Integer:
      case TypeKind::Float:
      case TypeKind::Double:
        if (!value.is_word()) return Fault(path, "is an Integer beyond 64 bits");
        Append(row.kind, value, Add(path, ElementOf(row.kind), {}).bytes);
        return {};
      default: return Fault(path, fmt::format("is of type {}", graph_.types.Print({type})));
    }
  }

 private:
  Outcome Fault(const std::string& path, std::string_view what) {
    if (fault_.empty()) fault_ = fmt::format("`{}` {}, which no array holds", path.empty() ? name_ : path, what);
    return {};
  }
  ValueArray& Add(const std::string& path, FileElement element, std::vector<int64_t> dims) {
    return arrays_.emplace_back(ValueArray{path.empty() ? name_ : path, element, std::move(dims), {}, {}});
  }
  // A scalar's bytes, little-endian as the machine is.
  static void Append(TypeKind kind, const Value& value, std::string& bytes) {
    uint64_t word = static_cast<uint64_t>(value.word());
    for (size_t i = 0; i < BytesOf(ElementOf(kind)); ++i) bytes += static_cast<char>(word >> 8 * i);
  }

  Outcome Structure(ir::TypeId type, const ir::Type& row, Value value, const std::string& path, int nesting) {
    ir::ListType list;
    if (ir::TypeId element = ListElement(graph_.types, type, &list); element.valid()) return List(element, std::move(value), path, nesting);
    const Data* data = value.is_word() ? nullptr : static_cast<const Data*>(value.object());
    const ir::Constructor& c = row.constructors[data ? data->constructor : static_cast<uint32_t>(value.word())];
    bool alone = row.constructors.size() == 1 && data;
    std::string below = alone ? path : JoinPath(path, c.name);
    size_t before = arrays_.size();
    for (size_t k = 0; data && k < c.fields.size(); ++k)
      if (Outcome outcome = Field(c.fields[k].type.type, data->fields()[k], JoinPath(below, FieldPart(c, k)), nesting + 1); !outcome.ok())
        return outcome;
    if (!alone) Mark(below, before);
    return {};
  }

  // Says that there is something that has no arrays.
  void Mark(const std::string& path, size_t before) {
    if (arrays_.size() == before) Add(path, FileElement::Bool, {0});
  }

  Outcome List(ir::TypeId element, Value value, const std::string& path, int nesting) {
    TypeKind kind = graph_.types.Kind(element);
    bool one_array = IsArrayElement(kind);
    std::string bytes;
    int64_t count = 0;
    for (;; ++count) {
      if (Outcome outcome = execution_.Force(value); !outcome.ok()) return outcome;
      if (value.is_word()) break;
      auto* cell = static_cast<Data*>(value.object());
      Value head = cell->fields()[0];
      value = Value(cell->fields()[1]);
      if (!one_array) {
        std::string below = JoinPath(path, std::to_string(count));
        size_t before = arrays_.size();
        if (Outcome outcome = Write(element, std::move(head), below, nesting + 1); !outcome.ok()) return outcome;
        Mark(below, before);
        if (!fault_.empty()) return {};
        continue;
      }
      if (Outcome outcome = execution_.Force(head); !outcome.ok()) return outcome;
      if (!head.is_word()) return Fault(path, "has an Integer beyond 64 bits");
      if (kind == TypeKind::Char) AppendUtf8(static_cast<uint32_t>(head.word()), bytes);
      else Append(TensorElement(kind), head, bytes);
    }
    if (kind == TypeKind::Char) count = static_cast<int64_t>(bytes.size());
    if (!one_array && count > 0) return {};
    Add(path, !one_array ? FileElement::Bool : kind == TypeKind::Char ? FileElement::Byte : ElementOf(TensorElement(kind)), {count}).bytes = std::move(bytes);
    return {};
  }

  Execution& execution_;
  const ir::Graph& graph_;
  std::string name_;
  Presence presence_;
  std::vector<ValueArray>& arrays_;
  std::string& fault_;
};

}  // namespace

std::optional<Value> ReadValue(const ir::Graph& graph, ir::TypeId type, ArrayFile& file, std::string_view name,
                               std::string* error, std::vector<SurplusArray>* unused) {
  return Reader(graph, file, name).All(type, error, unused);
}

Outcome TakeApart(Execution& execution, const ir::Graph& graph, ir::PortType type, Value value, std::string_view name,
                  std::vector<ValueArray>* arrays, std::string* fault) {
  return Writer(execution, graph, name, arrays, fault).Field(type.type, std::move(value), "", 0);
}

std::vector<ArrayToWrite> ToWrite(llvm::ArrayRef<ValueArray> arrays) {
  std::vector<ArrayToWrite> out;
  for (const ValueArray& array : arrays) {
    const TensorObject* tensor = TensorIn(array.tensor);
    out.push_back({array.name, array.element, array.dims, tensor ? std::string_view(tensor->data(), tensor->bytes()) : array.bytes});
  }
  return out;
}

}  // namespace df
