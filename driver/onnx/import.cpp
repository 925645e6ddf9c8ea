// `dfc import MODEL.onnx -o NET.df`: the module, and beside it its weights as an array file.
#include <charconv>
#include <filesystem>
#include <fstream>

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

// Part of a file beside the model. A name that leads elsewhere, as a link does, is none.
std::optional<std::string> ReadPart(const std::filesystem::path& folder, const std::string& name, int64_t offset, int64_t length, std::string* error) {
  std::error_code fault;
  const std::filesystem::path path = folder / name;
  const auto size = static_cast<int64_t>(std::filesystem::is_regular_file(std::filesystem::symlink_status(path, fault)) ? std::filesystem::file_size(path, fault) : 0);
  if (fault || !std::filesystem::exists(path, fault)) return *error = "it is not there", std::nullopt;
  if (length < 0) length = std::max<int64_t>(0, size - offset);
  if (offset > size || length > size - offset) return *error = fmt::format("it has {} bytes, and the model wants {} from {} on", size, length, offset), std::nullopt;
  std::string bytes(static_cast<size_t>(length), '\0');
  std::ifstream file(path, std::ios::binary);
  file.seekg(offset);
  file.read(bytes.data(), length);
  if (!file && length > 0) return *error = "it cannot be read", std::nullopt;
  return bytes;
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
    const std::filesystem::path folder = std::filesystem::path(options.file).parent_path();
    const ReadBeside read_beside = [&](const std::string& name, int64_t offset, int64_t length, std::string* why) { return ReadPart(folder, name, offset, length, why); };
    if (ReadSizes(options, sizes, error)) model = ImportOnnx(*bytes, ModuleName(options.output), weights.filename().string(), sizes, read_beside, &error);
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
