// Tags that outlive their activation: the path is that of the whole tag, the memory is not.
#include "runtime/run/bounded_tag.h"

#include <set>

#include "tests/unit/catch.h"

using namespace df;

namespace {

std::vector<std::tuple<uint32_t, uint32_t, uint64_t>> Labels(const RuntimeError& error) {
  std::vector<std::tuple<uint32_t, uint32_t, uint64_t>> labels;
  for (const PathEntry& entry : error.path) labels.push_back({entry.site.index, entry.loop.index, entry.iteration});
  return labels;
}

}  // namespace

TEST_CASE("the path of a tag is that of the whole list of labels", "[tagged]") {
  uint32_t run = GENERATE(1, 2, 5, 70, 1000);  // of equal labels
  bool in_place = GENERATE(false, true);       // see Lengthen
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
    if (tag && tag->run > 1) {
      RuntimeError around;
      FillPathAround(tag, around);
      PathEnds without;
      for (size_t i = whole.size() - 1; i-- > 0;) without.Add(whole[i]);
      without.Fill(from_labels, whole.size() - 1);
      REQUIRE(Labels(around) == Labels(from_labels));
      REQUIRE(around.path_length == from_labels.path_length);
    }
    uint32_t id = static_cast<uint32_t>(depth / run * (depth / run) % 7);
    bool loop = id % 3 == 1;
    Label label{id, loop, loop ? depth * 13 : 0};
    whole.push_back(EntryOf(label));
    if (in_place && Lengthen(tag, label)) continue;
    TagNode* longer = NewTag(label, tag);
    DropTag(tag);  // only the longest is held
    tag = longer;
    most = std::max(most, memory::counters.current - before);
  }
  CHECK(most < 8000);
  DropTag(tag);
  CHECK(memory::counters.current == before);
}

TEST_CASE("labels that are added together give the tag that they give one by one") {
  int64_t before = memory::counters.current;
  Label first{1, false, 0}, loop{2, true, 5}, again{3, false, 0};
  for (uint64_t around : {0, 1, 15, 40, 63, 64, 100, 200}) {
    TagNode* outer = nullptr;
    auto add = [](TagNode* tag, const Label& label) {
      TagNode* longer = NewTag(label, tag);
      DropTag(tag);
      return longer;
    };
    for (uint64_t i = 0; i < around; ++i) outer = add(outer, i % 3 ? first : loop);
    TagNode* one_by_one = HoldTag(outer);
    for (uint64_t count = 1; count < 300; ++count) {
      one_by_one = add(one_by_one, again);
      TagNode* together = NewTags(again, count, outer);
      RuntimeError path, expected;
      FillPath(together, path);
      FillPath(one_by_one, expected);
      REQUIRE(Labels(path) == Labels(expected));
      REQUIRE(path.path_length == expected.path_length);
      REQUIRE(path.path_gap == expected.path_gap);
      DropTag(together);
    }
    DropTag(one_by_one);
    DropTag(outer);
  }
  CHECK(memory::counters.current == before);
}

TEST_CASE("the iteration of a loop that goes on elsewhere has the path of one that goes on here") {
  int64_t before = memory::counters.current;
  TagNode* outer = nullptr;
  for (uint64_t depth = 0; depth < 200; ++depth) {
    Label loop{9, true, depth}, later{9, true, 4}, whole{9, true, depth + 5};
    TagNode *first = NewTag(loop, outer), *expected = NewTag(whole, outer), *inner = NewLaterIteration(later, first);
    REQUIRE(ContinuesLoop(later, first));
    RuntimeError path, expected_path;
    FillPath(inner, path);
    FillPath(expected, expected_path);
    REQUIRE(Labels(path) == Labels(expected_path));
    REQUIRE(path.path_length == expected_path.path_length);
    REQUIRE(path.path_gap == expected_path.path_gap);
    for (TagNode* tag : {first, expected, inner}) DropTag(tag);
    TagNode* longer = NewTag({static_cast<uint32_t>(depth % 5), false, 0}, outer);
    DropTag(outer);
    outer = longer;
  }
  DropTag(outer);
  CHECK(memory::counters.current == before);
}

TEST_CASE("a tag's name tells all of its labels, also those that no landmark keeps") {
  tags_have_names.store(true);
  int64_t before = memory::counters.current;
  auto made = [](uint64_t depth, uint64_t other, bool in_place) {
    TagNode* tag = nullptr;
    for (uint64_t i = 0; i < depth; ++i) {
      Label label = i == other ? SpreadLabel(9) : Label{static_cast<uint32_t>(i / 5 % 3), i % 3 == 1, i % 3 == 1 ? i : 0};
      if (in_place && Lengthen(tag, label)) continue;
      TagNode* longer = NewTag(label, tag);
      DropTag(tag);
      tag = longer;
    }
    TagName name = NameOf(tag);
    DropTag(tag);
    return name;
  };
  std::set<std::pair<uint64_t, uint64_t>> names;
  for (uint64_t other = 0; other < 300; ++other) {
    const TagName name = made(300, other, false);
    CHECK((name == made(300, other, true) && name.spread));
    names.insert({name.first, name.second});
  }
  for (uint64_t depth = 0; depth < 300; ++depth) {
    const TagName name = made(depth, 1000, depth % 2);
    CHECK_FALSE(name.spread);
    names.insert({name.first, name.second});
  }
  CHECK(names.size() == 600);
  // No labels are left out, however many are equal.
  TagNode* tag = nullptr;
  for (int i = 0; i < 100; ++i) {
    TagNode* longer = NewTag({static_cast<uint32_t>(i), false, 0}, tag);
    DropTag(tag);
    tag = longer;
  }
  TagNode* many = NewTags({5, false, 0}, 1000, tag);
  for (int i = 0; i < 1000; ++i) {
    TagNode* longer = NewTag({5, false, 0}, tag);
    DropTag(tag);
    tag = longer;
  }
  CHECK(NameOf(many) == NameOf(tag));
  DropTag(many);
  DropTag(tag);
  CHECK(memory::counters.current == before);
  tags_have_names.store(false);
}
