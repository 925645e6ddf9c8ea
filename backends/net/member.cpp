#include "backends/net/member.h"

#include <algorithm>

#include <fmt/format.h>

namespace df::net {
namespace {

std::string InWords(const std::string& text) { return text; }
std::string InWords(Small number) { return std::to_string(number); }
std::string InWords(const Digest& digest) { return Hex(digest); }

bool Fits(const std::string& a, const std::string& b) { return a == b; }
bool Fits(Small a, Small b) { return a == b; }
bool Fits(const Digest& a, const Digest& b) { return a == b || a == Digest{} || b == Digest{}; }

std::string Seconds(Time time) { return fmt::format("{:g} s", std::chrono::duration<double>(time).count()); }

}  // namespace

std::optional<Difference> Compare(const Facts& mine, const Facts& theirs, bool allow_libm) {
  std::optional<Difference> found;
#define DF_FACT(type, name, text)                                                                             \
  if (!found && !Fits(mine.name, theirs.name) && !(allow_libm && std::string_view(#name) == "libm"))          \
    found = Difference{text, InWords(mine.name), InWords(theirs.name)};
  DF_FACTS(DF_FACT)
#undef DF_FACT
  return found;
}

void ClockOffset::Note(Time asked, Time came, Time answered, Time now) {
  constexpr Time kMost = std::chrono::hours(24 * 365 * 50);
  if (asked > now || came > answered || came < Time{0} || answered > kMost) return;
  const Time took = (now - asked) - (answered - came);
  if (took < Time{0} || (known && took / 2 + Time{1} >= error)) return;
  known = true;
  ahead = ((came - asked) + (answered - now)) / 2;
  error = took / 2 + Time{1};
}

MemberNumber Members::Add(Member member, Time now) {
  const MemberNumber number = static_cast<MemberNumber>(members_.size());
  member.state = MemberState::Joined;
  member.heard = member.progressed = now;
  numbers_[member.incarnation] = number;
  members_.push_back(std::move(member));
  epoch_ += root_;
  return number;
}

bool Members::Heard(MemberNumber number, Time now) {
  Member& member = members_[number];
  if (member.state == MemberState::Gone) return false;
  member.heard = now;
  member.closed.reset();
  if (member.state != MemberState::Suspect || Judge(member, now, nullptr) == MemberState::Suspect) return false;
  member.state = member.ready ? MemberState::Serving : MemberState::Joined;
  return true;
}

void Members::Progressed(MemberNumber number, const msg::Progress& progress, Time now) {
  Member& member = members_[number];
  member.progressed = now;
  member.steps = progress.steps;
  member.busy = progress.busy;
  member.still = progress.still;
  constexpr uint64_t kMost = uint64_t{1} << 62;  // what a Time holds, with room
  if (progress.clock == 0 || progress.clock > kMost) return;
  member.clock = Time(progress.clock);
  member.progressed_at = now;
  if (progress.heard != 0 && progress.heard <= static_cast<uint64_t>(now.count()) && progress.since <= progress.clock)
    member.offset.Note(Time(progress.heard), Time(progress.clock - progress.since), member.clock, now);
}

void Members::SetReady(MemberNumber number) {
  Member& member = members_[number];
  member.ready = true;
  if (member.state == MemberState::Joined) member.state = MemberState::Serving;
}

void Members::Closed(MemberNumber number, Time now) {
  Member& member = members_[number];
  if (!member.closed) member.closed = now;
}

void Members::SetGone(MemberNumber number, std::string why) {
  Member& member = members_[number];
  if (member.state == MemberState::Gone) return;
  epoch_ += root_;
  member.state = MemberState::Gone;
  member.why = std::move(why);
}

// Bytes are a sign of life, since a large value may stand before a Progress. Of a worker that serves the root also wants progress, unless
// it said that it is in one long operation: then it is Suspect at most.
MemberState Members::Judge(const Member& member, Time now, std::string* why) const {
  const auto say = [&](std::string text) {
    if (why) *why = std::move(text);
    return MemberState::Gone;
  };
  if (now - member.heard >= times_.gone) return say(fmt::format("nothing heard for {}", Seconds(times_.gone)));
  if (member.closed && now - *member.closed >= times_.closed)
    return say(fmt::format("its connection ended and did not come back within {}", Seconds(times_.closed)));
  const Time idle = now - member.progressed;
  if (root_ && member.ready && !member.busy && idle >= times_.gone) return say(fmt::format("no progress for {}", Seconds(times_.gone)));
  if (member.root && member.ready && idle >= times_.root_idle) return say(fmt::format("no progress for {}", Seconds(times_.root_idle)));
  const bool slow = root_ && member.ready && idle >= times_.suspect;
  if (slow || now - member.heard >= times_.suspect) return MemberState::Suspect;
  return member.ready ? MemberState::Serving : MemberState::Joined;
}

void Members::NotLooked(Time time) {
  for (Member& member : members_) {
    member.heard += time;
    member.progressed += time;
    if (member.closed) *member.closed += time;
  }
}

std::vector<Members::Change> Members::Tick(Time now) {
  std::vector<Change> changes;
  for (MemberNumber number = 0; number < members_.size(); ++number) {
    Member& member = members_[number];
    if (member.state == MemberState::Gone) continue;
    std::string why;
    const MemberState state = Judge(member, now, &why);
    if (state == member.state) continue;
    if (state == MemberState::Gone) SetGone(number, std::move(why));
    else member.state = state;
    changes.push_back({number, state});
  }
  return changes;
}

Time Members::Deadline() const {
  Time deadline = Time::max();
  for (const Member& member : members_) {
    if (member.state == MemberState::Gone) continue;
    const bool suspect = member.state == MemberState::Suspect;
    deadline = std::min(deadline, member.heard + (suspect ? times_.gone : times_.suspect));
    if (member.closed) deadline = std::min(deadline, *member.closed + times_.closed);
    if (root_ && member.ready && !(suspect && member.busy)) deadline = std::min(deadline, member.progressed + (suspect ? times_.gone : times_.suspect));
    if (member.root && member.ready) deadline = std::min(deadline, member.progressed + times_.root_idle);
  }
  return deadline;
}

MemberNumber Members::Find(const Name128& incarnation) const {
  const auto found = numbers_.find(incarnation);
  return found == numbers_.end() ? kNobody : found->second;
}

}  // namespace df::net
