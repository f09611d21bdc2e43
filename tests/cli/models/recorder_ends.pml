/* How a recording ends (cli/record/run_app.cpp, cli/record/last_way.h, store/write/recorder.h): the program ends by itself or
 * by Ctrl-C; the disk becomes full, or stops answering and perhaps answers again; one segment ends and the next begins; the
 * recorder is killed. In every order.
 *
 * A trace is its file and its log. Rows are committed to the log; folding copies the log's rows into the file and removes the
 * log then. Whoever reads a trace sees the rows of both.
 *
 * `readable`: at each moment (so also when the recorder is killed in that moment) a reader sees all rows that were committed, and
 * a file without its tables has none. Assertions: the recorder's status is the program's, and it never ends before the
 * program. `ends`: the recorder ends, if somebody interrupts it until it does. With ALONE nobody interrupts, and the disk is
 * never silent: it ends, too.
 *
 * Each of these defines puts a mistake into the model, which Spin must find: LOG_REMOVED_FIRST, SWAPPED_BEFORE_TABLES,
 * STATUS_OF_DISK, STATUS_OF_SIGNAL, NO_LAST_WAY, PROGRAM_LEFT, WAITS_FOR_SUMMARY.
 *
 * check: always ends
 * check: -DALONE always ends
 * check: always readable
 */
#define SEGMENTS 2
#define MOST_ROWS 1      /* per segment */
#define MOST_PRESSES 2   /* of Ctrl-C while the disk answers */
#define UNHEARD 2        /* presses that nobody hears: the last way */
#define MOST_CHANGES 2   /* of the disk */

#define OWN_STATUS 7
#define BY_SIGNAL 130
#define OF_DISK 3

mtype = { fine, no_room, silent };
mtype disk = fine;

typedef Trace {
  bool named;      /* a file has its name */
  bool tables;     /* committed: the file can be read */
  byte committed;  /* rows whose commit has returned */
  byte log, file;  /* rows in each; during a fold both may have a row */
  bool logged      /* there is a log */
}
Trace traces[SEGMENTS];
byte current;            /* the segment that is written */
bool is_ended[SEGMENTS]; /* handed to the thread that completes it */
bool is_last;            /* no further segment begins */

bool program_runs = true;
bool asked_to_end;       /* the program got a signal */
byte status_of_program;
byte unheard;            /* presses of Ctrl-C */
byte heard;              /* by the recorder's main thread, up to 2 */
bool gone;               /* the recorder */
byte status;

#define seen(i, rows) (traces[i].file >= (rows) || (traces[i].logged && traces[i].log >= (rows)))
#define readable_file(i) (traces[i].named && traces[i].tables && seen(i, traces[i].committed))
#define is_readable(i) (traces[i].committed == 0 || readable_file(i))

/* A call that writes: none goes on while the disk is silent. */
#define can_write (disk != silent)

/* A killed or ended recorder does nothing more, and nothing that others do then matters. */
#define while_there provided (!gone)

proctype program() while_there {
  do
  :: d_step { program_runs -> program_runs = false; status_of_program = OWN_STATUS }; break
  :: d_step { program_runs && asked_to_end -> program_runs = false; status_of_program = BY_SIGNAL }; break
  :: !program_runs -> break  /* killed */
  od
}

proctype environment() while_there {
  byte changes;
  do
  :: changes < MOST_CHANGES && disk == fine -> disk = no_room; changes++
  :: changes < MOST_CHANGES && disk == no_room -> disk = fine; changes++
#ifndef ALONE
  :: changes < MOST_CHANGES && disk == fine -> disk = silent; changes++
  :: changes < MOST_CHANGES && disk == silent -> disk = fine; changes++
#endif
  :: gone = true
  :: true -> break  /* from now on all stays as it is */
  od
}

/* Interrupts at any time, and while nothing goes on again and again. */
proctype user() while_there {
  byte presses;
  do
#ifndef ALONE
  :: d_step { presses < MOST_PRESSES && unheard < UNHEARD -> presses++; unheard++ }
  :: d_step { disk == silent && unheard < UNHEARD -> unheard++ }
#else
  :: false
#endif
  od
}

inline hear() {
  d_step {
    unheard--;
    if
    :: heard < 2 -> heard++
    :: else
    fi
  }
}

inline kill_program() {
  d_step {
    if
    :: program_runs -> program_runs = false; status_of_program = BY_SIGNAL
    :: else
    fi
  }
}

/* The recorder ends by itself. */
inline leave(with) {
  status = with;
  gone = true;
  assert(!program_runs);
  assert(status == status_of_program)
}

inline create(i) {
  can_write ->
  traces[i].named = true;
  traces[i].logged = true;
  can_write ->
  traces[i].tables = true
}

/* Copies what the log has into the file, then removes the log. */
inline fold(i) {
#ifdef LOG_REMOVED_FIRST
  if
  :: disk == no_room
  :: disk == fine -> traces[i].logged = false
  fi;
#endif
  if
  :: disk == no_room  /* the log stays, and is read with the file */
  :: disk == fine ->
     do
     :: traces[i].file < traces[i].log && disk == fine -> traces[i].file++
     :: traces[i].file == traces[i].log || disk == no_room -> break
     od;
     if
     :: traces[i].file < traces[i].log
     :: can_write && traces[i].file == traces[i].log -> traces[i].logged = false
     fi
  fi
}

/* The thread that completes an ended segment beside the recording. */
byte completed;
proctype completer() while_there {
  do
  :: completed < SEGMENTS - 1 && is_ended[completed] -> fold(completed); completed++
  :: completed == SEGMENTS - 1 -> break
  :: is_last && current == completed -> break
  od
}

proctype recorder() while_there {
  bool stopped;  /* nothing more is written */
  byte next;
  do
  /* The program has written events. */
  :: !stopped && disk == fine && traces[current].committed < MOST_ROWS ->
     d_step { traces[current].log++; traces[current].committed++ }
  :: !stopped && disk == no_room -> stopped = true
  :: disk == silent && !stopped ->  /* a write that waits */
     (disk != silent)
  /* A segment's border. */
  :: !stopped && current < SEGMENTS - 1 && disk == fine && program_runs ->
     next = current + 1;
#ifdef SWAPPED_BEFORE_TABLES
     can_write -> traces[next].named = true; traces[next].logged = true;
     d_step { is_ended[current] = true; current = next };
     d_step { traces[current].log++; traces[current].committed++ };
     traces[current].tables = true
#else
     create(next);
     if
     :: traces[next].tables -> d_step { is_ended[current] = true; current = next }
     :: else
     fi
#endif
  /* The first interruption goes to the program, a second one kills it. */
  :: unheard > 0 && program_runs ->
     hear();
     if
     :: heard == 1 -> asked_to_end = true
     :: else -> kill_program()
     fi
  :: !program_runs -> break
  od;
  is_last = true;
  /* The summary, which an interruption ends, and which a full disk prevents. */
  do
  :: stopped || disk == no_room -> break
#ifndef WAITS_FOR_SUMMARY
  :: unheard > 0 -> hear(); break
#endif
  :: disk == fine -> break
#ifdef WAITS_FOR_SUMMARY
  :: unheard > 0 -> hear()
#endif
  od;
  fold(current);
  (completed == current);
  d_step {
    if
#ifdef STATUS_OF_DISK
    :: stopped -> leave(OF_DISK)
#endif
#ifdef STATUS_OF_SIGNAL
    :: heard > 0 -> leave(BY_SIGNAL)
#endif
    :: else -> leave(status_of_program)
    fi
  }
}

/* The thread that takes signals: from the second unheard one on it gives up the trace. */
proctype last_way() while_there {
#ifndef NO_LAST_WAY
  do
  :: unheard == UNHEARD && disk == silent ->
#ifndef PROGRAM_LEFT
     kill_program();
#endif
     d_step { leave(status_of_program) }
  od
#else
  skip
#endif
}

init {
  atomic {
    d_step { traces[0].named = true; traces[0].logged = true; traces[0].tables = true };  /* before the program starts */
    run program();
    run environment();
    run user();
    run completer();
    run recorder();
    run last_way()
  }
}

ltl readable { [] (is_readable(0) && is_readable(1)) }
ltl ends { <> gone }
