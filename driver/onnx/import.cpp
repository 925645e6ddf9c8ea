// `dfc import MODEL.onnx -o NET.df`: the module, and beside it its weights as an array file.
#include <charconv>
#include <filesystem>

#include "driver/commands.h"
#include "driver/compile.h"
#include "driver/import/import_onnx.h"
#include "driver/system/files.h"

namespace df {
namespace {

// "attention-layer.df" -> "Attention_layer"
std::string ModuleName(const std::string& file) {
  std::string name;
  for (char c : std::filesystem::path(file).stem().string()) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  while (!name.empty() && !std::isalpha(static_cast<unsigned char>(name[0]))) name.erase(0, 1);
  if (name.empty()) return "Net";
  name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return name;
}

bool ReadSizes(const Options& options, std::map<std::string, int64_t>& sizes, std::string& error) {
  for (const InputArgument& input : options.inputs) {
    int64_t size = 0;
    const char* end = input.text.data() + input.text.size();
    if (auto [rest, fault] = std::from_chars(input.text.data(), end, size); fault != std::errc() || rest != end || size < 0) {
      error = fmt::format("`--size {}={}`: that is no size", input.name, input.text);
      return false;
    }
    sizes[input.name] = size;
  }
  return true;
}

}  // namespace

ExitCode ImportCommand(const Options& options, Console& console) {
  Pipeline pipeline;
  std::unique_ptr<CompileBudget> budget = BudgetOf(options, console);
  ExitCode code = ExitCode::Failed;
  pipeline.Within([&] {
    PassScope pass("import the model");
    std::optional<std::string> bytes = ReadFile(options.file, kMaxGraphBytes, pipeline.diags);
    if (!bytes) return;
    std::filesystem::path weights(options.output);
    weights.replace_extension(".safetensors");
    std::map<std::string, int64_t> sizes;
    std::string error;
    std::optional<ImportedModel> model;
    if (ReadSizes(options, sizes, error)) model = ImportOnnx(*bytes, ModuleName(options.output), weights.filename().string(), sizes, &error);
    if (!model) return void(pipeline.diags.Report(Diag::NoImport, {}, options.file, error));
    std::vector<ArrayToWrite> arrays;
    for (const ImportedArray& array : model->weights) arrays.push_back({array.name, array.element, array.dims, array.bytes});
    const bool written = (arrays.empty() || WriteFile(weights.string(), WriteSafetensors(arrays), pipeline.diags)) && WriteFile(options.output, model->module, pipeline.diags);
    if (written) code = ExitCode::Fine;
  });
  console.Show(pipeline.diags);
  return CodeOf(pipeline.ended(), code);
}

}  // namespace df
