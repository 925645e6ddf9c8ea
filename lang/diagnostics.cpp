#include "lang/diagnostics.h"

#include <algorithm>

namespace df {
namespace {

constexpr DiagInfo kInfos[] = {
#define DF_DIAG(code, name, severity, text) {#code, #name, Severity::severity, text},
#include "lang/diagnostics.def"
};

}  // namespace

const DiagInfo& InfoOf(Diag diag) { return kInfos[static_cast<size_t>(diag)]; }

uint32_t DiagCount() { return static_cast<uint32_t>(std::size(kInfos)); }

Diagnostics& Diagnostics::Add(Diag id, Span span, std::string message) {
  last_kept_ = false;
  bool is_error = InfoOf(id).severity == Severity::Error;
  if (is_error && errors_ >= error_limit_) {
    ++errors_;
    ++dropped_;
    return *this;
  }
  for (auto it = all_.rbegin(); it != all_.rend(); ++it)
    if (it->id == id && it->span == span && it->message == message) return *this;
  if (is_error) ++errors_;
  all_.push_back({id, span, std::move(message), {}, {}});
  last_kept_ = true;
  return *this;
}

Diagnostics& Diagnostics::Note(Span span, std::string text) {
  if (last_kept_) all_.back().notes.push_back({span, std::move(text)});
  return *this;
}

Diagnostics& Diagnostics::Hint(std::string text) {
  if (last_kept_) all_.back().hint = std::move(text);
  return *this;
}

void Diagnostics::DropErrors(const std::function<bool(const Diagnostic&)>& follows) {
  size_t before = all_.size();
  last_kept_ &= before > 0 && !(InfoOf(all_.back().id).severity == Severity::Error && follows(all_.back()));
  all_.erase(std::remove_if(all_.begin(), all_.end(),
                            [&](const Diagnostic& one) { return InfoOf(one.id).severity == Severity::Error && follows(one); }),
             all_.end());
  errors_ -= static_cast<uint32_t>(before - all_.size());
}

void Diagnostics::Clear() {
  all_.clear();
  errors_ = dropped_ = 0;
  last_kept_ = false;
}

}  // namespace df
