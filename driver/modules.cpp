// The program's own modules: `import Shapes.Area` is the file Shapes/Area.df (or .hs) below the folder of the main file.
// A module is checked after those that it imports, once. As with GHC such a file goes before a module of the library that
// has its name; within the library it means nothing.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "driver/files.h"
#include "driver/pipeline.h"

namespace df {

void Pipeline::LookBeside(const std::string& file) {
  main_ = file == "-" ? "" : file;
  folder_ = std::filesystem::path(main_).parent_path().string();
  if (!folder_.empty() && folder_.back() != '/') folder_ += '/';
}

// The file of a module of the program's own; "" if there is none.
std::string Pipeline::PathOf(Symbol module) const {
  std::string stem(Text(module));
  if (stem == "Prelude" || stem.starts_with("Prelude.")) return "";
  std::replace(stem.begin(), stem.end(), '.', '/');
  for (const char* ending : {".df", ".hs"}) {
    std::error_code error;
    std::string path = folder_ + stem + ending;
    if (std::filesystem::is_regular_file(path, error)) return path;
  }
  return "";
}

bool Pipeline::LoadImports(const ast::Module& module, const CheckOptions& options) {
  for (const ast::Import& import : module.imports) {
    std::string path = PathOf(import.module.text);
    // A main file Fold.df that imports the library's `Fold` does not mean itself.
    std::error_code error;
    bool is_main = !path.empty() && !main_.empty() && std::filesystem::equivalent(path, main_, error);
    if (is_main && root_ != import.module.text && LoadLibraryModule(Text(import.module.text))) continue;
    if (path.empty()) LoadLibraryModule(Text(import.module.text));  // Check reports one that is in neither
    else if (!LoadOwnModule(import, path, options)) return false;
  }
  return true;
}

// False after errors.
bool Pipeline::LoadOwnModule(const ast::Import& import, const std::string& path, const CheckOptions& options) {
  Symbol name = import.module.text;
  auto known = own_.find(name);
  if (known != own_.end() && known->second.checked) return true;
  if (known != own_.end() || name == root_) {
    Diagnostics& diag = diags.Report(Diag::NotSupported, import.module.span, "modules that import each other are");
    if (known != own_.end()) diag.Note(known->second.import, fmt::format("`{}` is imported here, and is not finished", Text(name)));
    diag.Hint("what both of them need can stand in a third one");
    return false;
  }
  std::optional<std::string> text = ReadFile(path, kMaxSourceBytes, diags);
  if (!text) return false;
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
    if (!LoadImports(ast->module, options)) return false;
    CheckOptions own;
    own.imported = true;
    own.warnings = options.warnings;
    // What is in scope under these names is the module's own affair.
    FixityTable fixities = session.fixities;
    QualifiedFixities qualified = std::exchange(session.qualified, QualifiedFixities());
    RecordTable records = session.records;
    session.EnterImported(*ast, diags);
    ResolveFixity(*ast, session.fixities, session.records, diags, session.qualified);
    bool ok = !diags.has_errors() && session.Check(*ast, diags, own) && !diags.has_errors();
    if (ok) session.KeepFixities(name);
    session.fixities = std::move(fixities);
    session.qualified = std::move(qualified);
    session.records = std::move(records);
    return ok;
  };
  if (!check()) {
    own_.erase(name);  // a prompt may ask again
    return false;
  }
  own_[name].checked = true;
  return true;
}

}  // namespace df
