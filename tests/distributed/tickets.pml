/* tickets.pml: calls that go to other members, and members that are lost, as docs/far-calls.md has them. For spin; model.py runs it.
 *
 * Member 0 is the root. Its frame needs the results of BRANCHES calls, and each of these those of one more call below (to DEPTH). A call has
 * two results. Whoever has nothing to do asks; who is asked gives a call that nobody has begun, as a ticket, or refuses. The results come
 * one by one, then Finished; or the call comes Home. A member is killed, or the line between two others is cut, at any moment. Of the lines only this is
 * asked: order, and that both ends of a line learn that it is cut, some time.
 *
 * Wanted: no result is taken twice, and none that its call does not have (assertions); the root ends, with each of its tickets answered
 * (assertion, and no invalid end state). Nobody asks without end, so that whoever waits in vain is seen as a deadlock.
 *
 * BUG=1: what a lost member had is not computed again     2: which results have come is forgotten when it is
 *     3: of a cut line only one end learns                4: a result that cannot go is dropped without a word
 */

#ifndef MEMBERS
#define MEMBERS 3
#endif
#ifndef BRANCHES
#define BRANCHES 2
#endif
#ifndef DEPTH
#define DEPTH 1      /* of the calls that the root makes; 0: nothing below */
#endif
#ifndef LOSSES
#define LOSSES 2
#endif
#ifndef ASKS
#define ASKS 2       /* each member asks at most so often */
#endif
#ifndef GIVES
#define GIVES 2      /* and has at most so many tickets */
#endif
#ifndef BUG
#define BUG 0
#endif

#define SLOTS 6      /* calls at one member */
#define QUEUE 10
#define NOBODY 255
#define LOCAL 254    /* the home of a call of a frame here */
#define TOP 253      /* of the root's own frame */
#define NONE 255

mtype = { Ask, Refuse, Call, Result, Finished, Home };
mtype:call = { Free, Ready, Waiting };

typedef Task {
  mtype:call state;
  byte depth;
  byte missing;   /* results that it waits for */
  byte home;      /* LOCAL, TOP, or the member that has the ticket: this one too, of what it does itself */
  byte ticket;
  byte parent;    /* LOCAL: whose frame */
  bool returned;  /* nobody wants it */
}
typedef Ticket {
  bool open;
  byte peer;      /* who has it */
  byte depth, parent;
  bool first, second;  /* results that were taken */
}
typedef Store {
  Task task[SLOTS];
  Ticket ticket[GIVES];
  byte given, asks, asked;
  bool gone[MEMBERS];
}

Store m[MEMBERS];
chan line[MEMBERS * MEMBERS] = [QUEUE] of { mtype, byte, byte };  /* from * MEMBERS + to: message, ticket, number or depth */
bool cut[MEMBERS * MEMBERS], dead[MEMBERS];
bool ended;

#define TO(to) line[me * MEMBERS + to]
#define ME m[me]

inline send(to, what, x, y) {
  if
  :: ME.gone[to] -> skip
  :: else -> assert(nfull(TO(to))); TO(to) ! what(x, y)
  fi
}

/* A place for a call; `at` is it. */
inline place(whose_depth, whose_home, whose_ticket, whose_parent) {
  at = 0;
  do
  :: ME.task[at].state == Free -> break
  :: else -> at++; assert(at < SLOTS)
  od;
  ME.task[at].state = Ready; ME.task[at].depth = whose_depth; ME.task[at].missing = 0; ME.task[at].home = whose_home;
  ME.task[at].ticket = whose_ticket; ME.task[at].parent = whose_parent; ME.task[at].returned = false
}

/* Result `n` of the ticket `t` is here. */
inline take(t, n) {
  if
  :: n == 0 -> assert(!ME.ticket[t].first); ME.ticket[t].first = true
  :: else -> assert(!ME.ticket[t].second); ME.ticket[t].second = true
  fi;
  assert(ME.task[ME.ticket[t].parent].state == Waiting && ME.task[ME.ticket[t].parent].missing > 0);
  ME.task[ME.ticket[t].parent].missing--
}

/* The call at `at` has all that it waited for; and so, perhaps, has who waited for it. */
inline finish() {
  do
  :: at == NONE -> break
  :: else ->
    ME.task[at].state = Free;
    if
    :: ME.task[at].home == TOP ->
      i = 0;  /* its own tickets; those of calls that others gave it, and have lost, nobody waits for */
      do
      :: i == GIVES -> break
      :: else -> assert(!ME.ticket[i].open || ME.ticket[i].parent != at || (ME.ticket[i].first && ME.ticket[i].second)); i++
      od;
      ended = true; at = NONE
    :: ME.task[at].home == LOCAL ->
      at = ME.task[at].parent;
      assert(ME.task[at].state == Waiting && ME.task[at].missing >= 2);
      ME.task[at].missing = ME.task[at].missing - 2;
      if :: ME.task[at].missing > 0 -> at = NONE :: else -> skip fi
    :: ME.task[at].home == me ->
      t = ME.task[at].ticket;
      if
      :: ME.ticket[t].first && ME.ticket[t].second -> at = NONE  /* nothing but Finished was lost */
      :: else ->
        if :: !ME.ticket[t].first -> take(t, 0) :: else -> skip fi;
        if :: !ME.ticket[t].second -> take(t, 1) :: else -> skip fi;
        at = ME.ticket[t].parent;
        if :: ME.task[at].missing > 0 -> at = NONE :: else -> skip fi
      fi;
      ME.ticket[t].open = false
    :: else ->
      if
      :: ME.task[at].returned -> skip
      :: else ->
        if
        :: true -> send(ME.task[at].home, Result, ME.task[at].ticket, 0); send(ME.task[at].home, Result, ME.task[at].ticket, 1);
          send(ME.task[at].home, Finished, ME.task[at].ticket, 0)
        :: true -> send(ME.task[at].home, Result, ME.task[at].ticket, 0);  /* and the second one cannot go */
          if :: BUG == 4 -> skip :: else -> send(ME.task[at].home, Home, ME.task[at].ticket, 0) fi
        fi
      fi;
      at = NONE
    fi
  od
}

/* Whoever had the ticket does not do it. */
inline here(t) {
  if :: BUG == 2 -> ME.ticket[t].first = false; ME.ticket[t].second = false :: else -> skip fi;
  ME.ticket[t].peer = me;
  place(ME.ticket[t].depth, me, t, NONE)
}

inline begin(s) {
  d = ME.task[s].depth;
  at = s;
  if
  :: d == 0 && ME.task[s].home != TOP -> finish()
  :: else ->
    ME.task[s].state = Waiting;
    if
    :: ME.task[s].home == TOP -> i = BRANCHES
    :: else -> i = 1; d--
    fi;
    do
    :: i == 0 -> break
    :: else -> place(d, LOCAL, NONE, s); ME.task[s].missing = ME.task[s].missing + 2; i--
    od
  fi;
  at = NONE
}

/* A call that nobody has begun, of a frame here. */
#define GIVABLE(s) (ME.task[s].state == Ready && ME.task[s].home == LOCAL)
#define READY(s) (ME.task[s].state == Ready)

inline give(to, s) {
  t = ME.given; ME.given++;
  ME.ticket[t].open = true; ME.ticket[t].peer = to; ME.ticket[t].depth = ME.task[s].depth; ME.ticket[t].parent = ME.task[s].parent;
  ME.task[s].state = Free;
  send(to, Call, t, ME.ticket[t].depth)
}

inline answer(from) {
  if
  :: ME.given < GIVES && GIVABLE(0) -> give(from, 0)
  :: ME.given < GIVES && !GIVABLE(0) && GIVABLE(1) -> give(from, 1)
  :: ME.given < GIVES && !GIVABLE(0) && !GIVABLE(1) && GIVABLE(2) -> give(from, 2)
  :: ME.given < GIVES && !GIVABLE(0) && !GIVABLE(1) && !GIVABLE(2) && GIVABLE(3) -> give(from, 3)
  :: true -> send(from, Refuse, 0, 0)
  fi
}

inline receive(from) {
  if
  :: ME.gone[from] -> skip  /* it has not heard yet */
  :: !ME.gone[from] && what == Ask -> answer(from)
  :: !ME.gone[from] && what == Refuse -> if :: ME.asked == from -> ME.asked = NOBODY :: else -> skip fi
  :: !ME.gone[from] && what == Call ->
    assert(ME.asked == from);
    ME.asked = NOBODY;
    place(y, from, x, NONE)
  :: !ME.gone[from] && what == Result ->
    if
    :: !ME.ticket[x].open || ME.ticket[x].peer != from -> skip  /* late */
    :: else ->
      take(x, y);
      at = ME.ticket[x].parent;
      if :: ME.task[at].missing == 0 -> finish() :: else -> skip fi
    fi
  :: !ME.gone[from] && what == Finished ->
    if
    :: !ME.ticket[x].open || ME.ticket[x].peer != from -> skip
    :: else -> assert(ME.ticket[x].first && ME.ticket[x].second); ME.ticket[x].open = false
    fi
  :: !ME.gone[from] && what == Home ->
    if
    :: !ME.ticket[x].open || ME.ticket[x].peer != from -> skip
    :: else -> here(x)
    fi
  fi;
  x = 0; y = 0; at = NONE; t = 0; i = 0; d = 0
}

/* The line to `k` has ended: what was on it is lost. */
inline lose(k) {
  ME.gone[k] = true;
  do :: nempty(line[k * MEMBERS + me]) -> line[k * MEMBERS + me] ? what(x, y) :: empty(line[k * MEMBERS + me]) -> break od;
  if :: ME.asked == k -> ME.asked = NOBODY :: else -> skip fi;
  i = 0;
  do
  :: i == SLOTS -> break
  :: else -> if :: ME.task[i].state != Free && ME.task[i].home == k -> ME.task[i].returned = true :: else -> skip fi; i++
  od;
  i = 0;
  do
  :: i == GIVES -> break
  :: else -> if :: ME.ticket[i].open && ME.ticket[i].peer == k && BUG != 1 -> here(i) :: else -> skip fi; i++
  od;
  if :: me != 0 && k == 0 -> dead[me] = true :: else -> skip fi;  /* the run is over for it */
  x = 0; y = 0; at = NONE; t = 0; i = 0
}

#define LOST(k) (k != me && k < MEMBERS && !ME.gone[k] && (dead[k] || cut[k * MEMBERS + me]))
#define NOTHING_READY (!READY(0) && !READY(1) && !READY(2) && !READY(3) && !READY(4) && !READY(5))
#define MAY_ASK(k) (k != me && k < MEMBERS && !ME.gone[k] && ME.asked == NOBODY && ME.asks < ASKS && NOTHING_READY)
#define MAIL(k) (k != me && k < MEMBERS && nempty(line[k * MEMBERS + me]))

proctype Member(byte me) {
  byte at = NONE, t = 0, i = 0, d = 0, x = 0, y = 0;
  mtype what = Ask;
  do
  :: ended || dead[me] -> break
  :: atomic { !ended && !dead[me] && MAIL(0) -> line[0 * MEMBERS + me] ? what(x, y); receive(0) }
  :: atomic { !ended && !dead[me] && MAIL(1) -> line[1 * MEMBERS + me] ? what(x, y); receive(1) }
#if MEMBERS > 2
  :: atomic { !ended && !dead[me] && MAIL(2) -> line[2 * MEMBERS + me] ? what(x, y); receive(2) }
#endif
  :: atomic { !ended && !dead[me] && LOST(0) -> lose(0) }
  :: atomic { !ended && !dead[me] && LOST(1) -> lose(1) }
#if MEMBERS > 2
  :: atomic { !ended && !dead[me] && LOST(2) -> lose(2) }
#endif
  :: atomic { !ended && !dead[me] && READY(0) -> begin(0) }
  :: atomic { !ended && !dead[me] && !READY(0) && READY(1) -> begin(1) }
  :: atomic { !ended && !dead[me] && !READY(0) && !READY(1) && READY(2) -> begin(2) }
  :: atomic { !ended && !dead[me] && !READY(0) && !READY(1) && !READY(2) && READY(3) -> begin(3) }
  :: atomic { !ended && !dead[me] && !READY(0) && !READY(1) && !READY(2) && !READY(3) && READY(4) -> begin(4) }
  :: atomic { !ended && !dead[me] && !READY(0) && !READY(1) && !READY(2) && !READY(3) && !READY(4) && READY(5) -> begin(5) }
  :: atomic { !ended && !dead[me] && MAY_ASK(0) -> ME.asks++; ME.asked = 0; send(0, Ask, 0, 0) }
  :: atomic { !ended && !dead[me] && MAY_ASK(1) -> ME.asks++; ME.asked = 1; send(1, Ask, 0, 0) }
#if MEMBERS > 2
  :: atomic { !ended && !dead[me] && MAY_ASK(2) -> ME.asks++; ME.asked = 2; send(2, Ask, 0, 0) }
#endif
  od
}

/* Whoever but the root is killed; lines are cut while both ends live, and both learn it, some time. */
proctype Fate() {
  byte left = LOSSES;
  do
  :: ended || left == 0 -> break
  :: atomic { !ended && left > 0 && !dead[1] -> dead[1] = true; left-- }
#if MEMBERS > 2
  :: atomic { !ended && left > 0 && !dead[2] -> dead[2] = true; left-- }
  :: atomic { !ended && left > 0 && !cut[1 * MEMBERS + 2] ->
       cut[1 * MEMBERS + 2] = true; left--; if :: BUG == 3 -> skip :: else -> cut[2 * MEMBERS + 1] = true fi }
#endif
  :: atomic { !ended && left > 0 && !cut[0 * MEMBERS + 1] -> cut[0 * MEMBERS + 1] = true; cut[1 * MEMBERS + 0] = true; left-- }
  :: break
  od
}

init {
  atomic {
    byte k = 0, s = 0;
    do
    :: k == MEMBERS -> break
    :: else ->
      m[k].asked = NOBODY;
      s = 0;
      do :: s == SLOTS -> break :: else -> m[k].task[s].state = Free; s++ od;
      k++
    od;
    m[0].task[0].state = Ready;
    m[0].task[0].home = TOP;
    m[0].task[0].depth = DEPTH;
    s = 0;
    k = 0;
    do :: k == MEMBERS -> break :: else -> run Member(k); k++ od;
    run Fate()
  }
}
