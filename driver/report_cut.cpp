#include "driver/report_cut.h"

#include <fmt/format.h>

namespace df {
namespace {

struct Row {
  const char* label;
  const char* key;
  uint64_t CutCounts::*count;
};
constexpr Row kRows[] = {
    {"tokens", "tokens", &CutCounts::tokens},
    {"dead ones", "dead", &CutCounts::dead},
    {"sent", "sent", &CutCounts::sent},
    {"live triggers", "sent_triggers", &CutCounts::sent_triggers},
    {"dead, sent", "sent_dead", &CutCounts::sent_dead},
    {"control, sent", "sent_control", &CutCounts::sent_control},
    {"dead, withheld", "withheld", &CutCounts::withheld},
    {"of delayed calls", "cell_messages", &CutCounts::cell_messages},
    {"told skeletons", "told", &CutCounts::told},
    {"skeletons fired", "skeleton_firings", &CutCounts::skeleton_firings},
    {"tags for Recvs", "tags_made", &CutCounts::tags_made},
    {"waves", "waves", &CutCounts::waves},
    {"parts lost", "lost", &CutCounts::lost},
    {"not sent twice", "repeated", &CutCounts::repeated},
    {"Recvs left", "receives_left", &CutCounts::receives_left},
    {"tokens untaken", "untaken", &CutCounts::untaken},
    {"records left", "records_left", &CutCounts::records_left},
};

}  // namespace

void PrintCut(const CutCounts& counts, llvm::raw_ostream& out) {
  for (const Row& row : kRows) out << fmt::format("{:<16}{:>16}\n", row.label, counts.*row.count);
}

void PrintCut(const CutCounts& counts, llvm::json::OStream& json) {
  json.attributeObject("cut", [&] {
    for (const Row& row : kRows) json.attribute(row.key, counts.*row.count);
  });
}

}  // namespace df
