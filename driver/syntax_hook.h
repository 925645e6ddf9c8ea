// driver/syntax_hook.h
//
// What is done to the syntax of each of the program's own modules before its operators are resolved: `dfc test --coverage` marks its branches.
#pragma once

#include <functional>

#include "lang/source.h"
#include "parser/ast.h"

namespace df {

// Empty: nothing. Of this process; set before anything is compiled.
std::function<void(ast::Ast&, const SourceManager&)>& OnSyntax();

}  // namespace df
