/* The protocol of wic-backend/include/wic/strategies/shared_watch.h, for one word: WAITERS groups, LINES lines.
 *
 * Waiter 0 waits for 2, the others for anything but 0; the word goes 0, 1, 0, 1, and to 2 once the others have left. Waiter
 * 1 may pass its deadline at every look; waiter 0 may leave once for another strategy and come back.
 *
 * Assertions: a waiter is satisfied only if its condition held after its arrival; the data of the store that it saw is then
 * visible to it; there is at most one watcher; after the last waiter has left there is no watcher. `leaves` (under weak
 * fairness): every waiter leaves. The model omits a waiter's own look at the word, about every second: no waiter may depend on
 * it. With COUNTED=0 the model forgets what only the assertions need: `leaves` then has a third of the states.
 *
 * The model leaves free what a GPU may reorder between two fences: the watcher's reads of arrivals and word, and its stores to
 * lines.
 *
 * Each of these defines puts a mistake into the model, which Spin must find: TICKETS_IGNORED, TICKET_AT_ONCE, NOT_ANSWERED,
 * ROLE_KEPT, LINES_NOT_TOLD, ROLE_FREED_FIRST, ROLE_BY_STORE, EQUAL_NOT_FENCED.
 *
 * check: -DWAITERS=2 -DCHANGES=1 safety
 * check: -DWAITERS=2 -DCHANGES=1 -DCOUNTED=0 finally leaves
 * check: -DWAITERS=3 -DCHANGES=0 safety
 * check: -DWAITERS=3 -DCHANGES=0 -DCOUNTED=0 finally leaves
 */
#ifndef WAITERS
#define WAITERS 3
#endif
#ifndef CHANGES
#define CHANGES 1  /* of strategy */
#endif
#ifndef COUNTED
#define COUNTED 1  /* 0: without what the assertions need */
#endif
#define LINES 2

typedef Mirror {
  bool live;     /* the active bit */
  byte ticket;
  byte value;
  byte store;    /* Only for the assertions: which store of the producer the value is from, */
  byte visible   /* and up to which one data is visible to whoever reads the line after a fence. */
};

byte word;
byte stores;     /* of the producer; each releases data of its own */
byte arrivals;
Mirror master;
Mirror lines[LINES];

/* Only for the assertions. */
byte watchers;
byte gone;
bool held[WAITERS];

#define holds(i, value) ((i) == 0 -> (value) == 2 : (value) != 0)

inline write_line(i, is_active) {
  d_step {
    lines[i].live = is_active;
    lines[i].ticket = published;
    lines[i].value = value;
    lines[i].store = from;
    lines[i].visible = visible
  }
}

inline write_lines(is_active) {
  if
  :: write_line(0, is_active); write_line(1, is_active)
  :: write_line(1, is_active); write_line(0, is_active)
  fi
}

inline free_role() {
  d_step {
#ifndef ROLE_KEPT
    master.live = false;
#endif
    master.ticket = published;
    master.value = value;
    watchers--
  }
}

#define GO_ON 0
#define SATISFIED 1
#define DEADLINE 2
#define CHANGED 3

proctype waiter(byte me) {
  byte ticket, published, value, seen_arrivals, seen_value;
  byte seen_store, from, visible;  /* of the value, as in Mirror */
  bool watching, fresh, known, tries;
  byte outcome;
  bool may_change = (me == 0 && CHANGES);

  d_step { held[me] = !COUNTED || holds(me, word) }
  do
  :: d_step {  /* arrives */
       arrivals++;
       ticket = arrivals;
       watching = false; fresh = false; known = false;
       published = 0; value = 0; from = 0; visible = 0;
       outcome = GO_ON
     }
     do
     :: outcome == GO_ON ->
        if
        :: !watching ->
           d_step {
             seen_value = lines[me % LINES].value;
             from = lines[me % LINES].store;
             visible = lines[me % LINES].visible;
#ifdef TICKETS_IGNORED
             fresh = true;
#else
             fresh = fresh || lines[me % LINES].ticket >= ticket;
#endif
             tries = !lines[me % LINES].live && !(fresh && !(known && seen_value == value))
           }
           if
           :: tries ->
              tries = false;
#ifdef ROLE_BY_STORE
              if
              :: master.live
              :: !master.live -> d_step { master.live = true; watching = true; watchers++ }
              fi;
#else
              /* The read and the compare_exchange are one step: any store between them makes the latter fail, which
                 equals finding the master active. */
              d_step {
                if
                :: !master.live -> master.live = true; watching = true; watchers++
                :: else
                fi
              }
#endif
              assert(watchers <= 1)
           :: else
           fi;
           if
           :: watching -> d_step {
                known = false; fresh = false; ticket = arrivals; seen_value = 0; from = 0; visible = 0
              }
           :: else -> d_step {
                known = fresh;
                value = seen_value;
                seen_value = 0;
                if
                :: fresh && holds(me, value) -> outcome = SATISFIED; assert(visible >= from)
                :: else
                fi;
                from = 0;
                visible = 0
              }
           fi
        :: else
        fi;
        if
        :: watching ->
           if
           :: seen_arrivals = arrivals; d_step { seen_value = word; seen_store = stores }
           :: d_step { seen_value = word; seen_store = stores }; seen_arrivals = arrivals
           fi;
#ifdef TICKET_AT_ONCE
           ticket = seen_arrivals;
#endif
           if
#ifdef NOT_ANSWERED
           :: !known || seen_value != value ->
#else
           :: !known || seen_value != value || ticket != published ->
#endif
              d_step {
#ifdef EQUAL_NOT_FENCED
                if
                :: !known || seen_value != value -> visible = seen_store
                :: else
                fi;
#else
                visible = seen_store;
#endif
                known = true; published = ticket; value = seen_value; from = seen_store
              }
              write_lines(true)
           :: else
           fi;
           d_step {
             ticket = seen_arrivals;
             seen_arrivals = 0;
             seen_value = 0;
             seen_store = 0;
             if
             :: holds(me, value) -> outcome = SATISFIED
             :: else
             fi
           }
        :: else
        fi;
        if
        :: outcome == SATISFIED -> assert(held[me])
        :: outcome == GO_ON
        :: outcome == GO_ON && me == 1 -> outcome = DEADLINE
        :: outcome == GO_ON && may_change -> d_step { may_change = false; outcome = CHANGED }
        fi
     :: else -> break
     od;
     if
     :: watching ->
#ifdef ROLE_FREED_FIRST
        free_role();
        write_lines(false)
#else
#ifndef LINES_NOT_TOLD
        write_lines(false);
#endif
        free_role()
#endif
     :: else
     fi;
     if
     :: outcome == CHANGED
     :: else -> break
     fi
  od;
  skip;
  d_step {
    /* Spin keeps the variables of a process that has ended, and would tell states apart by them. */
    ticket = 0; published = 0; value = 0; from = 0; visible = 0; outcome = 0;
    watching = false; fresh = false; known = false; may_change = false;
    gone++;
    if
    :: gone == WAITERS -> assert(!master.live)
    :: else
    fi
  }
}

inline set(to) {
  d_step {
    word = to;
    stores = stores + COUNTED;
    for (i : 0 .. WAITERS - 1) { held[i] = held[i] || holds(i, word) }
    i = 0
  }
}

proctype producer() {
  byte i;
  set(1);
  set(0);
  set(1);
  gone == WAITERS - 1;
  set(2)
}

init {
  atomic {
    byte i;
    for (i : 0 .. WAITERS - 1) { run waiter(i) }
    run producer()
  }
}

ltl leaves { <> (gone == WAITERS) }
