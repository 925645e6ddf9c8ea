// lang/diagnostics.h
//
// Diagnostics: declared once in lang/diagnostics.def, collected here, rendered by lang/render.h.
//
// Wording follows one style: lower case, no full stop, code in backticks, the situation rather than
// the rule ("the branches of `if` have types `Int` and `Bool`").
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "lang/source.h"

namespace df {

enum class Severity : uint8_t { Error, Warning };

enum class Diag : uint16_t {
#define DF_DIAG(code, name, severity, text) name,
#include "lang/diagnostics.def"
};

// One row of lang/diagnostics.def.
struct DiagInfo {
  const char* code;  // "DF0203"
  const char* name;  // "BranchMismatch"
  Severity severity;
  const char* text;  // fmt pattern with numbered places
};
const DiagInfo& InfoOf(Diag diag);
uint32_t DiagCount();

// A second place that a message speaks of ("the other branch has type `Bool`").
struct DiagNote {
  Span span;  // may be invalid: then a plain remark
  std::string text;
};

struct Diagnostic {
  Diag id;
  Span span;  // may be invalid: then the message stands alone
  std::string message;
  std::vector<DiagNote> notes;
  std::string hint;  // how to mend it; empty if there is nothing to say
};

// Collects what the phases report, in order. Identical messages at one place are kept once.
class Diagnostics {
 public:
  explicit Diagnostics(const SourceManager& sources) : sources_(&sources) {}

  // Reports `id` at `span`; the rest are the arguments of its text. The reference stays valid until the
  // next report: chain .Note(...) and .Hint(...) on it at once.
  template <typename... Args>
  Diagnostics& Report(Diag id, Span span, const Args&... args) {
    return Add(id, span, fmt::format(fmt::runtime(InfoOf(id).text), args...));
  }
  Diagnostics& Note(Span span, std::string text);
  Diagnostics& Hint(std::string text);

  bool has_errors() const { return errors_ != 0; }
  uint32_t error_count() const { return errors_; }
  const std::vector<Diagnostic>& all() const { return all_; }
  const SourceManager& sources() const { return *sources_; }
  // Beyond this many errors further ones are counted and not kept.
  void set_error_limit(uint32_t limit) { error_limit_ = limit; }
  uint32_t dropped() const { return dropped_; }
  void Clear();
  // Takes errors back that turn out to follow from others.
  void DropErrors(const std::function<bool(const Diagnostic&)>& follows);

 private:
  Diagnostics& Add(Diag id, Span span, std::string message);

  const SourceManager* sources_;
  std::vector<Diagnostic> all_;
  uint32_t errors_ = 0;
  uint32_t dropped_ = 0;
  uint32_t error_limit_ = 100;
  bool last_kept_ = false;
};

}  // namespace df
