// driver/test/coverage.h
//
// `dfc test --coverage`: which clauses, guards and branches of the program's own modules ran.
//
// Each such place is marked in the syntax: `e` becomes a text on standard error that names the place, and then e. The process that runs the tests
// reads its own standard error.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/source.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace df::ast {
class Ast;
}

namespace df::test {

struct FileResult;

// A place that may run.
struct CoveredPlace {
  std::string file;
  std::string what;  // "clause", "guard", "alternative", "`then`", "`else`"
  uint32_t line = 0, column = 0, end_line = 0, end_column = 0;  // behind its last character
  uint64_t hits = 0;
};

// Marks the places of a module: what Pipeline::on_syntax is for.
void MarkPlaces(ast::Ast& ast, const SourceManager& sources);
// In the process of a file: what marks say from now on is counted.
void BeginCoverage();
// What has been counted since the last call, as the process tells it; and back.
llvm::json::Array TellCoverage();
void TakeCoverage(const llvm::json::Array& told, std::vector<CoveredPlace>& places);

// The places of all files, by place, each once.
std::vector<CoveredPlace> AllPlaces(const std::vector<FileResult>& files);
// How many ran, and those that did not.
void ReportCoverage(const std::vector<CoveredPlace>& places, llvm::raw_ostream& out);
// The sources with their places in colour, a page each, and index.html. False: it cannot be written, `fault` says why.
bool WriteCoverageHtml(const std::vector<CoveredPlace>& places, const std::string& folder, std::string& fault);

}  // namespace df::test
