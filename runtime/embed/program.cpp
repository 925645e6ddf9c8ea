// Graphs that are loaded, and what they are compiled to.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "runtime/device/device.h"
#include "runtime/embed/embed_impl.h"
#include "tagged_ir/file.h"

namespace df {

Program::Program(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

namespace embed {

std::optional<std::string> ReadWhole(const std::string& path, std::string* error) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.bad() && file) return bytes;
  *error = path + ": cannot be read";
  return std::nullopt;
}

// The old file or the whole new one.
bool WriteWhole(const std::string& path, std::string_view bytes) {
  const std::string beside = path + ".part";
  std::ofstream file(beside, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(beside, path, error);
  if (file && !error) return true;
  std::filesystem::remove(beside, error);
  return false;
}

std::vector<Program::Port> PrintPorts(const ir::Graph& graph, const std::vector<ir::Port>& ports) {
  std::vector<Program::Port> out;
  for (const ir::Port& port : ports) out.push_back({port.name, graph.types.Print({port.type.type, false})});
  return out;
}

}  // namespace embed

std::optional<Program> Program::Load(const std::string& path, std::string* error) {
  std::optional<std::string> bytes = embed::ReadWhole(path, error);
  if (!bytes) return std::nullopt;
  auto program = FromBytes(*bytes, error);
  if (!program) *error = path + ": " + *error;
  return program;
}

std::optional<Program> Program::FromBytes(std::string_view bytes, std::string* error) {
  std::optional<ir::Graph> graph = ir::Deserialize(bytes, error);
  if (!graph) return std::nullopt;
  return Program(std::make_shared<Impl>(std::move(*graph)));
}

std::shared_ptr<const EngineCode> Program::Impl::CodeFor(EngineKind kind, const RunOptions& options) {
  if (kind != EngineKind::Tagged) return nullptr;
  const bool batch = options.batch > 0, away = options.device && !options.device->is_host();
  std::lock_guard lock(mutex_);
  for (const Made& made : made_)
    if (made.batch == batch && made.away == away) return made.code;
  made_.push_back({batch, away, MakeCode(kind, graph, options)});
  return made_.back().code;
}

bool Program::Impl::Find(std::string_view entry, size_t* index) const {
  *index = SIZE_MAX;
  if (entry.empty() && entries.empty()) return true;
  auto it = std::find_if(entries.begin(), entries.end(), [&](const ir::Entry& e) { return e.name == entry; });
  *index = static_cast<size_t>(it - entries.begin());
  return it != entries.end();
}

std::vector<std::string> Program::entries() const {
  std::vector<std::string> names;
  for (const ir::Entry& entry : impl_->entries) names.push_back(entry.name);
  return names;
}

bool Program::HasEntry(std::string_view entry) const {
  size_t index;
  return impl_->Find(entry, &index);
}

std::vector<Program::Port> Program::inputs(std::string_view entry) const {
  size_t index;
  if (!impl_->Find(entry, &index)) return {};
  return embed::PrintPorts(impl_->graph, index == SIZE_MAX ? impl_->graph.graph_inputs : impl_->entries[index].inputs);
}

std::vector<Program::Port> Program::results(std::string_view entry) const {
  size_t index;
  if (!impl_->Find(entry, &index)) return {};
  if (index == SIZE_MAX) return embed::PrintPorts(impl_->graph, impl_->graph.graph_results);
  return embed::PrintPorts(impl_->graph, {{"", impl_->entries[index].result}});
}

}  // namespace df
