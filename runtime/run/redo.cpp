// Earlier actions of a prompt, done again in front of the one that is new: see perform.h and docs/repl.md. They change references and arrays
// as they did then; what they were told is in their logs, and what they wrote is written.
#include "lang/utf8.h"
#include "runtime/run/perform.h"
#include "runtime/value/io_error.h"
#include "runtime/value/text_list.h"

namespace df {

// Steps are counted as in a run of the action alone, where one comes before its first: here that is its handler's.
Outcome Performance::RedoMark(int64_t mark, Value resume, Value& action) {
  redo_ = mark == kRedoBegins && redo_next_ < redone_.size() ? redone_[redo_next_++] : nullptr;
  redo_entry_ = 0;
  redo_handlers_ = handlers_.size();
  steps_ = redo_ ? 0 : 1;
  if (!redo_) kept_ = {};
  pending_ = {};
  pending_.reply = Reply(0, Value::Word(list_.nil));
  return Resume(std::move(resume), action);
}

bool Performance::RedoIsCut() const {
  return redo_ && redo_->cut && redo_entry_ >= redo_->entries.size() && steps_ >= redo_->steps && handlers_.size() > redo_handlers_;
}

// Whether the step that is being taken is one that failed.
bool Performance::RedoFailsHere() const {
  return redo_ && redo_entry_ < redo_->entries.size() && redo_->entries[redo_entry_].kind != 'a' && redo_->entries[redo_entry_].steps == steps_;
}

// What the question was answered then.
Value Performance::RedoReply() {
  steps_ = 0;
  if (redo_entry_ >= redo_->entries.size() || redo_->entries[redo_entry_].kind != 'a')
    return Reply(-1, TextList(list_, CharsOfName(IoErrorParts(IoKind::UnsupportedOperation, "", "", "this was not asked when it was done")), Value::Word(list_.nil)));
  const ActionLog::Entry& entry = redo_->entries[redo_entry_++];
  return Reply(entry.number, TextList(list_, CharsOfName(entry.text), Value::Word(list_.nil)));
}

}  // namespace df
