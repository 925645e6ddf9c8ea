// The program's own modules: `import Shapes.Area` is the file Shapes/Area.df (or .hs, .lhs) below the folder of the main file, or,
// where the main file is such a module itself, below the folder that its own name begins in.
// A module is checked after those that it imports, once. As with GHC such a file goes before a module of the library that
// has its name; within the library it means nothing.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "driver/pipeline.h"
#include "driver/system/files.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace df {
namespace {

// What stands in front of the names of the folder's files.
std::string Prefix(const std::filesystem::path& folder) {
  std::string text = folder == "." ? "" : folder.string();
  if (!text.empty() && text.back() != '/') text += '/';
  return text;
}

}  // namespace

void Pipeline::LookBeside(const std::string& file, const std::vector<std::string>& more) {
  main_ = file == "-" ? "" : file;
  folder_ = Prefix(std::filesystem::path(main_).parent_path());
  more_folders_.clear();
  for (const std::string& folder : more) more_folders_.push_back(Prefix(folder));
}

// `dfc check lib/Shapes/Area.hs` of the module `Shapes.Area` looks in lib.
void Pipeline::LookAbove(Symbol module) {
  namespace fs = std::filesystem;
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(Text(module).data(), Text(module).size()).split(parts, '.');
  std::error_code error;
  fs::path above = fs::absolute(main_, error).lexically_normal().parent_path();
  std::string up;
  for (size_t i = parts.size() - 1; i-- > 0; above = above.parent_path()) {
    if (main_.empty() || error || above.filename().string() != parts[i]) return;
    up += "../";
  }
  if (!up.empty()) folder_ = Prefix((fs::path(folder_) / up).lexically_normal());
}

// The file of a module of the program's own; "" if there is none.
std::string Pipeline::PathOf(Symbol module) const {
  std::string stem(Text(module));
  if (stem == "Prelude" || stem.starts_with("Prelude.")) return "";
  std::replace(stem.begin(), stem.end(), '.', '/');
  auto find = [&](const std::string& folder) {
    for (std::string_view ending : kSourceEndings) {
      std::error_code error;
      std::string path = folder + stem + std::string(ending);
      if (std::filesystem::is_regular_file(path, error)) return path;
    }
    return std::string();
  };
  std::string path = find(folder_);
  for (size_t i = 0; i < more_folders_.size() && path.empty(); ++i) path = find(more_folders_[i]);
  return path;
}

// A file in the folder that would hold the module but for the case of its name; "" if there is none.
std::string Pipeline::NearPathOf(Symbol module, const std::string& folder) const {
  namespace fs = std::filesystem;
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(Text(module).data(), Text(module).size()).split(parts, '.');
  std::string path = folder;
  for (size_t i = 0; i < parts.size(); ++i) {
    bool last = i + 1 == parts.size();
    std::error_code error;
    std::string found;
    for (fs::directory_iterator at(path.empty() ? "." : path, error), end; !error && at != end; at.increment(error)) {
      std::string entry = at->path().filename().string(), ending = at->path().extension().string();
      if (last && !llvm::is_contained(kSourceEndings, ending)) continue;
      llvm::StringRef name = last ? llvm::StringRef(entry).drop_back(ending.size()) : llvm::StringRef(entry);
      if (name.equals_insensitive(parts[i]) && (found.empty() || entry < found)) found = entry;
    }
    if (found.empty()) return "";
    path += found + (last ? "" : "/");
  }
  return path;
}

// All that is wrong with them is reported, and then nothing of what they would have brought.
bool Pipeline::LoadImports(const ast::Ast& ast, const CheckOptions& options) {
  bool ok = true;
  llvm::SmallVector<const ast::Import*> missing;
  for (const ast::Import& import : ast.module.imports) {
    std::string path = PathOf(import.module.text);
    // A main file Fold.df that imports the library's `Fold` does not mean itself.
    std::error_code error;
    bool is_main = !path.empty() && !main_.empty() && std::filesystem::equivalent(path, main_, error);
    if (is_main && root_ != import.module.text && LoadLibraryModule(Text(import.module.text))) continue;
    if (!path.empty()) {
      ok &= LoadOwnModule(import, path, options);
      continue;
    }
    if (LoadLibraryModule(Text(import.module.text))) continue;
    std::string near = NearPathOf(import.module.text, folder_);
    for (size_t i = 0; i < more_folders_.size() && near.empty(); ++i) near = NearPathOf(import.module.text, more_folders_[i]);
    if (near.empty()) {
      missing.push_back(&import);
      continue;
    }
    diags.Report(Diag::UnknownModule, import.module.span, Text(import.module.text))
        .Hint(fmt::format("there is `{}`: the name of a module and that of its file are the same, capitals included", near));
    ok = false;
  }
  LoadTupleInstances();
  // Else Check reports these.
  if (!ok) session.ReportUnknownModules(ast, diags, [&](const ast::Import& import) { return llvm::is_contained(missing, &import); });
  return ok;
}

// False after errors.
bool Pipeline::LoadOwnModule(const ast::Import& import, const std::string& path, const CheckOptions& options) {
  Symbol name = import.module.text;
  auto known = own_.find(name);
  if (known != own_.end() && known->second.checked) return true;
  if (known != own_.end() && known->second.failed) return false;  // that is told
  if (known != own_.end() || name == root_) {
    Diagnostics& diag = diags.Report(Diag::NotSupported, import.module.span, "modules that import each other are");
    if (known != own_.end()) diag.Note(known->second.import, fmt::format("`{}` is imported here, and is not finished", Text(name)));
    diag.Hint("what both of them need can stand in a third one");
    return false;
  }
  std::optional<std::string> text = ReadFile(path, kMaxSourceBytes, diags);
  if (!text) {
    own_[name].failed = true;
    return false;
  }
  own_[name].import = import.module.span;
  auto check = [&] {
    std::optional<ast::Ast> ast = Syntax(Tokens(path, std::move(*text)));
    if (!ast) return false;
    Symbol declared = ast->module.name.text;
    if (declared != name) {
      diags.Report(Diag::UnknownModule, import.module.span, Text(name))
          .Hint(declared.valid() ? fmt::format("`{}` declares the module `{}`", path, Text(declared))
                                 : fmt::format("`{}` does not begin with `module {} where`", path, Text(name)));
      return false;
    }
    if (!LoadImports(*ast, options)) return false;
    CheckOptions own;
    own.imported = true;
    own.warnings = options.warnings;
    FixityScope scope = session.ScopeOfImports(*ast, diags, /*library=*/false);
    Resolve(*ast, scope);
    bool ok = diags.error_count() == complaints_ && session.Check(*ast, diags, scope, own) && diags.error_count() == complaints_;
    if (ok) session.KeepFixities(name, scope, /*library=*/false);
    return ok;
  };
  // What is wrong elsewhere is no fault of this module.
  const uint32_t complaints = std::exchange(complaints_, diags.error_count());
  const bool good = check();
  complaints_ = complaints;
  if (!good) {
    own_[name].failed = true;
    return false;
  }
  own_[name].checked = true;
  return true;
}

}  // namespace df
