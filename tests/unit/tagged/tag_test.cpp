// Tags that outlive their activation: the path is that of the whole tag, the memory is not.
#include "runtime/tagged_code.h"
#include "runtime/tagged_tag.h"
#include "tests/unit/catch.h"

using namespace df;
using namespace df::tagged;

namespace {

std::vector<std::tuple<uint32_t, uint32_t, uint64_t>> Labels(const RuntimeError& error) {
  std::vector<std::tuple<uint32_t, uint32_t, uint64_t>> labels;
  for (const PathEntry& entry : error.path) labels.push_back({entry.site.index, entry.loop.index, entry.iteration});
  return labels;
}

}  // namespace

TEST_CASE("the path of a tag is that of the whole list of labels", "[tagged]") {
  std::vector<SiteCode> sites(7);
  for (uint32_t i = 0; i < sites.size(); ++i) {
    sites[i].label = i;
    sites[i].type = i % 3 == 1 ? SiteType::Loop : SiteType::Call;
  }
  int64_t before = memory::counters.current;
  std::vector<PathEntry> whole;  // outermost first
  TagNode* tag = nullptr;
  int64_t most = 0;
  for (uint64_t depth = 0; depth < 1000; ++depth) {
    RuntimeError from_tag, from_labels;
    FillPath(tag, from_tag);
    PathEnds ends;
    for (size_t i = whole.size(); i-- > 0;) ends.Add(whole[i]);
    ends.Fill(from_labels, whole.size());
    REQUIRE(Labels(from_tag) == Labels(from_labels));
    REQUIRE(from_tag.path_length == from_labels.path_length);
    REQUIRE(from_tag.path_gap == from_labels.path_gap);
    const SiteCode& site = sites[depth * depth % sites.size()];
    whole.push_back(LabelOf(site, depth * 13));
    TagNode* longer = NewTag(&site, depth * 13, tag);
    DropTag(tag);  // only the longest is held
    tag = longer;
    most = std::max(most, memory::counters.current - before);
  }
  CHECK(most < 8000);
  DropTag(tag);
  CHECK(memory::counters.current == before);
}
