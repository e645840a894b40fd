// Package scenario is the demo language: a few readable lines that start
// contestants, break them, wait for what really happens, and say what is to be
// expected of it. The same text is stepped through on a key by the TUI, runs
// straight through as a script, and is played by tests.
//
// # The language
//
// One statement a line; # begins a comment. A step begins with "step TEXT" and ends
// where the next one begins.
//
//	title TEXT                          what this demo shows
//	servers N                           it needs 1 ZooKeeper server (as without this line) or 3
//	param NAME = DEFAULT [MIN..MAX] [: HELP]
//	                                    a number, a duration or a word that may be set
//	                                    from outside; $NAME stands for it, $NAME+1 and
//	                                    $NAME-$i for sums
//	repeat N … end                      the lines between, N times; $i counts from 1
//	step TEXT                           a new step
//	say TEXT                            a line of narration
//	predict QUESTION                    asked before the step runs, followed by choices:
//	- CHOICE                            one a line; the right one ends with *
//	let NAME = WHO                      remembers who that is now
//
//	start N [of RECIPE] [at LOCK] [session D] [hold D] [permits N] [in one process]
//	                                    at LOCK: a name of your own for a lock beside the
//	                                    demo's own; without it, that one is meant
//	join WHO [at once]                  WHO: a name; holder, next, last, waiter N or all,
//	                                    each of them [at LOCK]; holders (the first one
//	                                    of every lock), newest (started last), guest S (the
//	                                    last in line whose session is on server S);
//	                                    one after the other unless "at once"
//	release WHO [after D]               after D: not before it has held that long
//	quit WHO      kill WHO      stop WHO      continue WHO
//	cut WHO       refuse WHO    blackhole WHO [in|out|both]       delay WHO D
//	drop reply WHO OP           fail write WHO OP                 heal WHO
//	expire WHO
//	drain [at LOCK] [within D]          whoever holds releases at once, until nobody is in
//	                                    line or the time is over
//	mark                                fired and packets count from here
//	write WHO [after D]                 to the resource that the lock protects, after working
//	                                    for D on what it believed before
//	fence on, fence off                 whether the resource refuses smaller tokens
//	kill server S, pause server S, continue server S, restart server S
//	                            S: its number from 1, leader, follower (the one with the
//	                            most sessions of ours), or a name of your own
//	isolate server S            cuts it off from the other servers   rejoin server S
//	let NAME = server S
//
//	wait FACT [within D]                until it is so; the script ends when it is not in time
//	expect FACT                         must be so now
//	show FACT                           says it without judging
//
// Facts with a number take "at most" or "at least" before it, and "at LOCK" after it.
// For wakes and fired it may also be "few": at most one watch a release, or three for
// the library's mutex, whose waiters watch their own node and two ahead.
//
//	queue N         nodes in line                 settled N     N in line, all watches set,
//	holders N       by the server                               all readings newer than that
//	believers N     who believe so                overlap N     times that two believed so at once
//	rate N          acquisitions a second in this step, from its first grant to its last,
//	                rounded up
//	wakes N         watches that the last release fired, by the server's counters
//	fired N         watches fired since the mark, by the server's counters and, for each
//	                lock apart, by the wire; known when both agree
//	packets N       frames of the lock's contestants since the mark, heartbeats aside
//	written N       writes that the resource took
//	refused N       writes that it refused
//	holder WHO      holder other than WHO         token larger
//	WHO holds, waiting, suspended, lost, released, failed       (what WHO believes)
//	WHO running, stopped, dead                                  (its process)
//	WHO connected, disconnected, silent                         (by the wire)
//	serving N       servers that serve            leader other than S
//	server S leads, follows, down
//	WHO on S, on any, off S                                      (the server its session is on)
//	WHO expired, out                                            (its session, its node, by the server)
//	WHO expired in (T, T+tick]
package scenario
