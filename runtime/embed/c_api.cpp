// dfc.h over embed.h: handles, and errors instead of exceptions.
#include "runtime/embed/dfc.h"

#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>

#include "runtime/embed/embed.h"

#ifndef DFC_VERSION
#define DFC_VERSION "0"
#endif

struct dfc_error {
  df::Failure failure;
};

struct dfc_program {
  struct Entry {
    std::string name;
    std::vector<df::Program::Port> inputs, results;
  };
  df::Program program;
  std::vector<Entry> entries;  // one without a name, of a program that has no others
  size_t named = 0;
  const Entry* Find(const char* name) const {
    const std::string_view wanted = name ? name : "";
    for (const Entry& entry : entries)
      if (entry.name == wanted) return &entry;
    return nullptr;
  }
};

struct dfc_settings {
  df::RunSettings settings;
};

struct dfc_run {
  df::Run run;
};

struct dfc_view {
  df::View view;
  // What was asked for, as long as the view lives.
  std::optional<std::string> type, string, shown, constructor;
  std::optional<df::Array> array;
  std::vector<std::string> names;
  std::optional<std::vector<df::View>> elements;
};

struct dfc_element {
  df::Element& element;
};

namespace {

void Report(dfc_error** error, df::Failure failure) noexcept {
  if (!error) return;
  try {
    *error = new dfc_error{std::move(failure)};
  } catch (...) {
    *error = nullptr;
  }
}

void Report(dfc_error** error, df::Failure::Code code, const char* message) noexcept {
  if (!error) return;
  try {
    df::Failure failure;
    failure.code = code;
    failure.message = message;
    failure.text = std::string("error: ") + message;
    Report(error, std::move(failure));
  } catch (...) {
    *error = nullptr;
  }
}

// What `work` gives; or `failed`, and an error: of a thing that it throws, or of what it has put into its argument.
template <typename Result, typename Work>
Result Within(dfc_error** error, Result failed, Work work) noexcept {
  try {
    std::string what;
    Result result = work(&what);
    if (!what.empty()) Report(error, df::Failure::Code::Host, what.c_str());
    return result;
  } catch (const std::bad_alloc&) {
    Report(error, df::Failure::Code::Limit, "no memory is left");
  } catch (const std::exception& thrown) {
    Report(error, df::Failure::Code::Internal, thrown.what());
  } catch (...) {
    Report(error, df::Failure::Code::Internal, "unknown");
  }
  return failed;
}

dfc_program* Make(df::Program program) {
  auto made = std::make_unique<dfc_program>(dfc_program{std::move(program), {}});
  for (const std::string& name : made->program.entries()) made->entries.push_back({name, {}, {}});
  made->named = made->entries.size();
  if (made->entries.empty()) made->entries.emplace_back();
  for (dfc_program::Entry& entry : made->entries) {
    entry.inputs = made->program.inputs(entry.name);
    entry.results = made->program.results(entry.name);
  }
  return made.release();
}

df::ArrayIn ArrayOf(const void* data, dfc_dtype dtype, size_t rank, const int64_t* shape, const int64_t* strides) {
  df::ArrayIn array;
  array.data = data;
  array.element = static_cast<df::ElementType>(dtype);
  array.shape.assign(shape, shape + rank);
  if (strides) array.strides.assign(strides, strides + rank);
  return array;
}

std::vector<df::NamedArray> PartsOf(const dfc_part* parts, size_t count) {
  std::vector<df::NamedArray> named;
  for (const dfc_part* part = parts; part != parts + count; ++part)
    named.push_back({part->name ? part->name : "", ArrayOf(part->data, part->dtype, part->rank, part->shape, part->strides)});
  return named;
}

bool IsKnown(dfc_dtype dtype) { return dtype >= DFC_FLOAT32 && dtype <= DFC_BOOL; }

dfc_view* ViewOf(df::View view) { return new dfc_view{std::move(view), {}, {}, {}, {}, {}, {}, {}}; }

}  // namespace

extern "C" {

int dfc_abi(void) { return DFC_ABI; }
const char* dfc_version(void) { return DFC_VERSION; }

// ---------------------------------------------------------------- errors

dfc_error_code dfc_error_get_code(const dfc_error* error) {
  return error ? static_cast<dfc_error_code>(error->failure.code) : DFC_ERROR_NONE;
}
const char* dfc_error_message(const dfc_error* error) { return error ? error->failure.message.c_str() : ""; }
const char* dfc_error_text(const dfc_error* error) { return error ? error->failure.text.c_str() : ""; }
size_t dfc_error_path_length(const dfc_error* error) { return error ? error->failure.path.size() : 0; }
const char* dfc_error_path_what(const dfc_error* error, size_t i) { return i < dfc_error_path_length(error) ? error->failure.path[i].what.c_str() : ""; }
const char* dfc_error_path_file(const dfc_error* error, size_t i) { return i < dfc_error_path_length(error) ? error->failure.path[i].file.c_str() : ""; }
const char* dfc_error_path_function(const dfc_error* error, size_t i) {
  return i < dfc_error_path_length(error) ? error->failure.path[i].function.c_str() : "";
}
uint32_t dfc_error_path_line(const dfc_error* error, size_t i) { return i < dfc_error_path_length(error) ? error->failure.path[i].line : 0; }
uint32_t dfc_error_path_column(const dfc_error* error, size_t i) { return i < dfc_error_path_length(error) ? error->failure.path[i].column : 0; }
void dfc_error_free(dfc_error* error) { delete error; }

// ---------------------------------------------------------------- programs

dfc_program* dfc_program_load(const char* path, dfc_error** error) {
  return Within<dfc_program*>(error, nullptr, [&](std::string* what) {
    std::optional<df::Program> program = df::Program::Load(path, what);
    return program ? Make(std::move(*program)) : nullptr;
  });
}
dfc_program* dfc_program_from_bytes(const void* bytes, size_t size, dfc_error** error) {
  return Within<dfc_program*>(error, nullptr, [&](std::string* what) {
    std::optional<df::Program> program = df::Program::FromBytes({static_cast<const char*>(bytes), size}, what);
    return program ? Make(std::move(*program)) : nullptr;
  });
}
void dfc_program_free(dfc_program* program) { delete program; }

size_t dfc_entry_count(const dfc_program* program) { return program->named; }
const char* dfc_entry_name(const dfc_program* program, size_t index) { return index < program->named ? program->entries[index].name.c_str() : nullptr; }
size_t dfc_input_count(const dfc_program* program, const char* entry) {
  const dfc_program::Entry* found = program->Find(entry);
  return found ? found->inputs.size() : 0;
}
const char* dfc_input_name(const dfc_program* program, const char* entry, size_t index) {
  const dfc_program::Entry* found = program->Find(entry);
  return found && index < found->inputs.size() ? found->inputs[index].name.c_str() : nullptr;
}
const char* dfc_input_type(const dfc_program* program, const char* entry, size_t index) {
  const dfc_program::Entry* found = program->Find(entry);
  return found && index < found->inputs.size() ? found->inputs[index].type.c_str() : nullptr;
}
size_t dfc_result_type_count(const dfc_program* program, const char* entry) {
  const dfc_program::Entry* found = program->Find(entry);
  return found ? found->results.size() : 0;
}
const char* dfc_result_type(const dfc_program* program, const char* entry, size_t index) {
  const dfc_program::Entry* found = program->Find(entry);
  return found && index < found->results.size() ? found->results[index].type.c_str() : nullptr;
}

// ---------------------------------------------------------------- settings

dfc_settings* dfc_settings_new(void) { return new (std::nothrow) dfc_settings(); }
void dfc_settings_free(dfc_settings* settings) { delete settings; }
void dfc_settings_threads(dfc_settings* settings, uint32_t threads) { settings->settings.threads = threads; }
void dfc_settings_max_memory(dfc_settings* settings, uint64_t bytes) { settings->settings.max_memory = bytes; }
void dfc_settings_max_frames(dfc_settings* settings, uint64_t frames) { settings->settings.max_frames = frames; }
void dfc_settings_timeout(dfc_settings* settings, uint64_t milliseconds) {
  settings->settings.timeout = std::chrono::milliseconds(milliseconds);
}
void dfc_settings_batch(dfc_settings* settings, uint32_t rows) { settings->settings.batch = rows; }
int dfc_settings_engine(dfc_settings* settings, const char* name) {
  const std::string_view wanted = name;
  if (wanted == "tagged") settings->settings.engine = df::RunEngine::Tagged;
  else if (wanted == "reference") settings->settings.engine = df::RunEngine::Reference;
  else if (wanted == "demand") settings->settings.engine = df::RunEngine::Demand;
  else return 0;
  return 1;
}
void dfc_settings_device(dfc_settings* settings, const char* name) {
  Within<int>(nullptr, 0, [&](std::string*) {
    settings->settings.device = name;
    return 1;
  });
}

// ---------------------------------------------------------------- runs

dfc_run* dfc_run_new(const dfc_program* program, const char* entry, const dfc_settings* settings, dfc_error** error) {
  return Within<dfc_run*>(error, nullptr, [&](std::string* what) -> dfc_run* {
    df::RunSettings chosen = settings ? settings->settings : df::RunSettings();
    chosen.entry = entry ? entry : "";
    if (!program->Find(entry)) {
      *what = chosen.entry.empty() ? "the graph has several entries, and none is chosen" : "the graph has no entry `" + chosen.entry + "`";
      return nullptr;
    }
    return new dfc_run{df::Run(program->program, std::move(chosen))};
  });
}
void dfc_run_free(dfc_run* run) { delete run; }

int dfc_set_int(dfc_run* run, const char* input, int64_t value, dfc_error** error) {
  return Within<int>(error, 0, [&](std::string* what) { return run->run.SetInput(input, value, what); });
}
int dfc_set_double(dfc_run* run, const char* input, double value, dfc_error** error) {
  return Within<int>(error, 0, [&](std::string* what) { return run->run.SetInput(input, value, what); });
}
int dfc_set_bool(dfc_run* run, const char* input, int value, dfc_error** error) {
  return Within<int>(error, 0, [&](std::string* what) { return run->run.SetInput(input, value != 0, what); });
}
int dfc_set_text(dfc_run* run, const char* input, const char* text, dfc_error** error) {
  return Within<int>(error, 0, [&](std::string* what) { return run->run.SetInputText(input, text, what); });
}
int dfc_set_string(dfc_run* run, const char* input, const char* utf8, size_t size, dfc_error** error) {
  return Within<int>(error, 0, [&](std::string* what) { return run->run.SetInputString(input, {utf8, size}, what); });
}
int dfc_set_file(dfc_run* run, const char* input, const char* path, dfc_error** error) {
  return Within<int>(error, 0, [&](std::string* what) { return run->run.SetInputFile(input, path, what); });
}
int dfc_set_array(dfc_run* run, const char* input, const void* data, dfc_dtype dtype, size_t rank, const int64_t* shape, const int64_t* strides,
                  void* owner, dfc_release release, dfc_error** error) {
  return Within<int>(error, 0, [&](std::string* what) {
    // From here on it is released once, whatever happens; should this allocation fail, at once.
    std::shared_ptr<const void> keeps(owner ? owner : &run->run, [owner, release](const void*) { if (release) release(owner); });
    if (!IsKnown(dtype)) {
      *what = "there is no such type of elements";
      return false;
    }
    df::ArrayIn array = ArrayOf(data, dtype, rank, shape, strides);
    array.owner = std::move(keeps);
    return run->run.SetInputArray(input, array, what);
  });
}
int dfc_set_parts(dfc_run* run, const char* input, const dfc_part* parts, size_t count, dfc_error** error) {
  return Within<int>(error, 0, [&](std::string* what) { return run->run.SetInputParts(input, PartsOf(parts, count), what); });
}
int dfc_set_list(dfc_run* run, const char* input, dfc_next next, void* state, dfc_error** error) {
  auto ask = [next, state](df::Element& element) {
    dfc_element handle{element};
    const int more = next(state, &handle);
    if (more < 0) throw std::runtime_error("the program that gives the input gave it up");
    return more > 0;
  };
  return Within<int>(error, 0, [&](std::string* what) { return run->run.SetInputList(input, ask, what); });
}
int dfc_element_int(dfc_element* element, int64_t value, dfc_error** error) {
  return Within<int>(error, 0, [&](std::string* what) { return element->element.Set(value, what); });
}
int dfc_element_double(dfc_element* element, double value, dfc_error** error) {
  return Within<int>(error, 0, [&](std::string* what) { return element->element.Set(value, what); });
}
int dfc_element_bool(dfc_element* element, int value, dfc_error** error) {
  return Within<int>(error, 0, [&](std::string* what) { return element->element.Set(value != 0, what); });
}
int dfc_element_text(dfc_element* element, const char* text, dfc_error** error) {
  return Within<int>(error, 0, [&](std::string* what) { return element->element.SetText(text, what); });
}
int dfc_element_string(dfc_element* element, const char* utf8, size_t size, dfc_error** error) {
  return Within<int>(error, 0, [&](std::string* what) { return element->element.SetString({utf8, size}, what); });
}
int dfc_element_parts(dfc_element* element, const dfc_part* parts, size_t count, dfc_error** error) {
  return Within<int>(error, 0, [&](std::string* what) { return element->element.SetParts(PartsOf(parts, count), what); });
}
int dfc_set_view(dfc_run* run, const char* input, const dfc_view* view, dfc_error** error) {
  return Within<int>(error, 0, [&](std::string* what) { return run->run.SetInputView(input, view->view, what); });
}
void dfc_clear_input(dfc_run* run, const char* input) { run->run.ClearInput(input); }

dfc_status dfc_execute(dfc_run* run, dfc_error** error) {
  return Within<dfc_status>(error, DFC_INTERNAL, [&](std::string*) {
    const df::RunStatus status = run->run.Execute();
    if (status != df::RunStatus::Done) Report(error, run->run.failure());
    return static_cast<dfc_status>(status);
  });
}
void dfc_cancel(dfc_run* run) { run->run.Cancel(); }
int dfc_get_progress(const dfc_run* run, dfc_progress* progress) {
  const df::Progress now = run->run.progress();
  *progress = {now.steps, now.elements, static_cast<uint64_t>(now.time.count())};
  return now.running;
}

size_t dfc_result_count(const dfc_run* run) { return run->run.result_count(); }
const char* dfc_result_text(const dfc_run* run, size_t index) {
  return Within<const char*>(nullptr, nullptr, [&](std::string*) { return index < run->run.result_count() ? run->run.result(index).text.c_str() : nullptr; });
}
dfc_view* dfc_result(const dfc_run* run, size_t index) {
  return Within<dfc_view*>(nullptr, nullptr, [&](std::string*) { return index < run->run.result_count() ? ViewOf(run->run.view(index)) : nullptr; });
}
int dfc_write_result(const dfc_run* run, size_t index, const char* path, dfc_error** error) {
  return Within<int>(error, 0, [&](std::string* what) { return run->run.WriteResult(index, path, what); });
}

// ---------------------------------------------------------------- views

void dfc_view_free(dfc_view* view) { delete view; }
dfc_kind dfc_view_kind(const dfc_view* view) { return static_cast<dfc_kind>(view->view.kind()); }
int dfc_view_int(const dfc_view* view, int64_t* value) {
  const std::optional<int64_t> integer = view->view.integer();
  if (integer) *value = *integer;
  return integer.has_value();
}
double dfc_view_double(const dfc_view* view) { return view->view.real(); }
int dfc_view_bool(const dfc_view* view) { return view->view.boolean(); }
uint32_t dfc_view_char(const dfc_view* view) { return view->view.character(); }

const char* dfc_view_type(dfc_view* view) {
  return Within<const char*>(nullptr, nullptr, [&](std::string*) {
    if (!view->type) view->type = view->view.type();
    return view->type->c_str();
  });
}
const char* dfc_view_string(dfc_view* view, size_t* size) {
  return Within<const char*>(nullptr, nullptr, [&](std::string*) -> const char* {
    if (!view->string) view->string = view->view.text();
    if (!view->string) return nullptr;
    if (size) *size = view->string->size();
    return view->string->c_str();
  });
}
const char* dfc_view_show(dfc_view* view) {
  return Within<const char*>(nullptr, nullptr, [&](std::string*) {
    if (!view->shown) view->shown = view->view.show();
    return view->shown->c_str();
  });
}
const void* dfc_view_array(dfc_view* view, dfc_dtype* dtype, size_t* rank, const int64_t** shape) {
  return Within<const void*>(nullptr, nullptr, [&](std::string*) -> const void* {
    if (!view->array) view->array = view->view.array();
    if (!view->array) return nullptr;
    if (dtype) *dtype = static_cast<dfc_dtype>(view->array->element);
    if (rank) *rank = view->array->shape.size();
    if (shape) *shape = view->array->shape.data();
    return view->array->data;
  });
}
size_t dfc_view_constructor_index(const dfc_view* view) { return view->view.constructor_index(); }
const char* dfc_view_constructor(dfc_view* view) {
  return Within<const char*>(nullptr, nullptr, [&](std::string*) {
    if (!view->constructor) view->constructor = view->view.constructor();
    return view->constructor->c_str();
  });
}
size_t dfc_view_size(const dfc_view* view) { return view->view.size(); }
dfc_view* dfc_view_field(const dfc_view* view, size_t index) {
  return Within<dfc_view*>(nullptr, nullptr, [&](std::string*) { return index < view->view.size() ? ViewOf(view->view.field(index)) : nullptr; });
}
const char* dfc_view_field_name(dfc_view* view, size_t index) {
  return Within<const char*>(nullptr, nullptr, [&](std::string*) -> const char* {
    if (index >= view->view.size()) return nullptr;
    for (size_t i = view->names.size(); i < view->view.size(); ++i) view->names.push_back(view->view.field_name(i));
    return view->names[index].c_str();
  });
}
int dfc_view_is_list(const dfc_view* view) { return view->view.is_list(); }
size_t dfc_view_list_length(dfc_view* view) {
  return Within<size_t>(nullptr, 0, [&](std::string*) {
    if (!view->elements) view->elements = view->view.elements();
    return view->elements->size();
  });
}
dfc_view* dfc_view_list_element(dfc_view* view, size_t index) {
  return Within<dfc_view*>(nullptr, nullptr,
                           [&](std::string*) { return index < dfc_view_list_length(view) ? ViewOf((*view->elements)[index]) : nullptr; });
}

}  // extern "C"
