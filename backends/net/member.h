// backends/net/member.h
//
// Who is there: members with their states, the epoch, and when somebody counts as lost. No clock, no links: what happened is told, with its
// time.
//
//   Joined -Ready-> Serving -> Suspect   nothing heard for 1 s, or no progress
//                           -> Gone      for 5 s, or not back 1 s after its connection ended
//
// Gone is final: a process that returns needs a new incarnation. The epoch is the root's count of joins and losses.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backends/net/messages.h"
#include "backends/net/outbox.h"

namespace df::net {

// What does not fit between two processes, in words.
struct Difference {
  std::string field, mine, theirs;
};
// The first fact that differs. A digest of zeros fits any. `allow_libm`: other functions of Double are put up with.
std::optional<Difference> Compare(const Facts& mine, const Facts& theirs, bool allow_libm);

// Joining a run is by incarnation; in a process members have small numbers, which are not used twice.
using MemberNumber = uint32_t;
inline constexpr MemberNumber kNobody = UINT32_MAX;

// How far another process's clock is ahead of this one's, from the messages there and back that took least on their way: as NTP has it. Whoever answers says
// what his clock was when the question came, and when the answer went; the truth is within half of what both took on the line.
struct ClockOffset {
  bool known = false;
  Time ahead{0}, error{0};
  // Asked at `asked`, which came there when its clock was `came`; answered at `answered` of that clock; the answer is here at `now`. What cannot be so
  // is passed over.
  void Note(Time asked, Time came, Time answered, Time now);
};

struct MemberTimes {
  Time suspect = std::chrono::seconds(1);
  Time gone = std::chrono::seconds(5);
  Time closed = std::chrono::seconds(1);    // after its connection ended
  Time root_idle = std::chrono::minutes(10);  // a root that lives but makes no progress: blocked on its input, or stopped by Ctrl-Z
};

struct Member {
  Name128 incarnation;
  MemberState state = MemberState::Joined;
  bool root = false;
  Small rank = kNoRank;
  Small cores = 0;
  std::string name, address;
  std::string who;            // its key
  std::string why;            // it is gone
  bool ready = false;         // it has said so
  bool ending = false;        // it has said Bye, or has heard the one of this process
  bool busy = false;          // in one long operation, in which no progress can be told
  uint64_t steps = 0;
  Small still = 0;            // milliseconds since what computes there has looked at anything, as it said last
  Time heard{0}, progressed{0};
  Time clock{0};              // of its last Progress, by its own clock; 0: none has come
  Time progressed_at{0};      // when that came, by this process's
  ClockOffset offset;
  std::optional<Time> closed;  // when its connection ended
};

class Members {
 public:
  // `self_root`: only the root judges by progress, and only it counts epochs.
  Members(MemberTimes times, bool self_root) : times_(times), root_(self_root) {}

  // A process that fits, and with which there is a link.
  MemberNumber Add(Member member, Time now);
  // Anything from it. True if it was Suspect and is not any more.
  bool Heard(MemberNumber number, Time now);
  void Progressed(MemberNumber number, const msg::Progress& progress, Time now);
  void SetReady(MemberNumber number);
  void Closed(MemberNumber number, Time now);
  void SetGone(MemberNumber number, std::string why);

  // This process itself did not look for so long (it was stopped, or had no processor): that is not the others' silence.
  void NotLooked(Time time);

  struct Change {
    MemberNumber number;
    MemberState state;
  };
  // Who is Suspect or Gone by the time.
  std::vector<Change> Tick(Time now);
  // When Tick has something to do.
  Time Deadline() const;

  MemberNumber Find(const Name128& incarnation) const;
  const Member& operator[](MemberNumber number) const { return members_[number]; }
  Member& At(MemberNumber number) { return members_[number]; }
  size_t size() const { return members_.size(); }

  uint64_t epoch() const { return epoch_; }
  void SetEpoch(uint64_t epoch) { epoch_ = epoch; }

 private:
  MemberState Judge(const Member& member, Time now, std::string* why) const;
  Time LastSign(const Member& member) const;

  MemberTimes times_;
  bool root_;
  std::vector<Member> members_;
  std::map<Name128, MemberNumber> numbers_;
  uint64_t epoch_ = 0;
};

}  // namespace df::net
