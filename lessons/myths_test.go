package lessons_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"zklab/lessons"
)

// myth is one of a lesson's, and what shows it false by a run.
type myth struct {
	lesson string
	says   string // how it begins, after "**Myth:** "
	shown  []evidence
}

// evidence is something that runs. A lesson's demos are played by
// scenario.TestLessons_everyDemoHoldsWhatItExpects, its wrong answers are tried by
// workbook.TestLadder.
type evidence struct {
	kind string // demo, wrong, test
	what string // a step of the lesson's demo, a file in its wrong folder, or a folder and a test's name
}

func demo(step string) evidence      { return evidence{"demo", step} }
func wrong(file string) evidence     { return evidence{"wrong", file} }
func test(dir, name string) evidence { return evidence{"test", dir + " " + name} }

// run is a test of this package.
func run(name string) evidence { return test("lessons", name) }

var myths = []myth{
	{"01", `"The check exists(path) == null returned null`, []evidence{wrong("CHECK-THEN-ACT")}},
	{"02", `"The lock is free at once when the client dies."`, []evidence{demo("kill -9 of the holder")}},
	{"02", `"A long task must renew its lock."`, []evidence{run("TestMyth02_holderThatOnlyWorks_keepsItsLock")}},
	{"03", `"The event came with SyncConnected`, []evidence{wrong("STATE-IS-NEWS"), run("TestMyth03_nodeEvent_comesWithSyncConnected")}},
	{"04", `"There is no herd: wchp shows one watch`, []evidence{wrong("MISSES-CHILD-WATCHES"), test("internal/zkstat", "TestReader_queueOf3")}},
	{"05", `"Sort the children, and the one before mine`, []evidence{wrong("WRONG-ORDER"), wrong("TEXT-COMPARE"),
		run("TestMyth05_curatorAndKazooOnOnePath_overlap"), test("internal/lockproof", "TestCompat_kazoo")}},
	{"06", `"To be fair to everybody, watch all nodes smaller`, []evidence{wrong("HERD-OF-WATCHERS")}},
	{"07", `"My watch fired, so the lock is mine."`, []evidence{wrong("WOKEN-IS-NOT-OWNER"), run("TestMyth07_wokenIsOwner_passesTheTestsOfLesson06")}},
	{"07", `"My node has vanished, so I must have been first`, []evidence{wrong("OWN-NODE-GONE")}},
	{"08", `A widely copied lock waits with latch.await`, []evidence{wrong("WRONG-UNIT"), wrong("TIMEOUT-IS-SUCCESS")}},
	{"08", `"The node is ephemeral, so I need not delete it`, []evidence{wrong("LEFTOVER")}},
	{"09", `"An error means that it did not happen."`, []evidence{wrong("FORGETS"), wrong("RETRY-BLIND"), demo("the reply to its create gets lost")}},
	{"09", `"A GUID in the name is enough`, []evidence{wrong("WRONG-OWNER")}},
	{"10", `"When the connection is lost, the lock is lost."`, []evidence{demo("The holder's connection is cut, and it comes back at once")}},
	{"10", `"ZooKeeper tells you when you have lost the lock."`, []evidence{demo("Nobody had told the first one that its session was over")}},
	{"10", `"Work on until LOST."`, []evidence{wrong("TOO-LATE")}},
	{"11", `"I check that I still hold the lock, and then I write.`, []evidence{demo("It is stopped before it writes"), wrong("CHECK-THEN-WRITE")}},
	{"11", `"A short session timeout solves it"`, []evidence{run("TestMyth11_shortTimeoutAndRenewing_doNotStopAZombie")}},
	{"11", `"The version of the lock node is a fencing token."`, []evidence{wrong("VERSION-IS-TOKEN")}},
	{"12", `"ZooKeeper locks are reentrant`, []evidence{demo("A client holds the mini-mutex, and acquires it again")}},
	{"12", `"Within one process a plain check is enough`, []evidence{wrong("SAME-SESSION")}},
	{"12", `"Reentrant means that one release is enough."`, []evidence{wrong("RELEASES-TOO-EARLY")}},
	{"13", `"Readers never wait for readers`, []evidence{wrong("OVERTAKES"), run("TestMyth13_readersThatOvertake_starveTheWriterOrReadWhileItWrites")}},
	{"13", `"Sort the children, and take those before me."`, []evidence{wrong("PREFIX-SORT")}},
	{"13", `"Unlock, then lock again to read`, []evidence{wrong("SLIPS-IN")}},
	{"14", `"A semaphore is a mutex with a number`, []evidence{wrong("NEVER-PROMOTED"), demo("The first client returns its lease")}},
	{"14", `"A mutex is a semaphore of one`, []evidence{wrong("ONLY-THE-OWNER"), test("solutions/14-a-pool-of-leases", "TestAnybodyMayReturn")}},
	{"15", `"A hundred clients with 10 ms each do 600`, []evidence{demo("Now twenty clients"), test("solutions/15-measure-it", "TestMeasure")}},
	{"15", `"With eight shards it is eight times as fast."`, []evidence{wrong("HOT-KEY"), test("solutions/15-measure-it", "TestMeasure")}},
	{"16", `"Reads of a lock must go to the leader."`, []evidence{test("solutions/16-the-ensemble", "TestALockNeedsNoSync")}},
	{"16", `"A read after a write returns what was written."`, []evidence{wrong("NO-SYNC"), test("solutions/16-the-ensemble", "TestAFollowerLags")}},
	{"17", `"We ran it under load for a night`, []evidence{run("TestMyth17_load_findsNothing")}},
	{"17", `"If nobody ever saw two holders, the lock is correct."`, []evidence{run("TestMyth17_trials_fiveOfTenLetTwoIn")}},
	{"17", `"Exists sets a watch, so nothing can be missed."`, []evidence{test("solutions/17-break-these-locks", "TestTrials"), run("TestMyth17_load_findsNothing")}},
	{"18", `"With a distributed lock, the work is done exactly once."`, []evidence{wrong("FENCE-NOT-FIRST"), wrong("BOOKED-TWICE")}},
	{"18", `"A unique key on the order makes the lock superfluous."`, []evidence{run("TestMyth18_uniqueKeyWithoutALock_doesTheWorkThreeTimes")}},
}

var mythLine = regexp.MustCompile(`(?m)^\*\*Myth:\*\* `)

// Each lesson's myths have a row here, and each row has a myth and something that runs.
func TestMyths_eachIsShownFalseByARun(t *testing.T) {
	all, err := lessons.Manifest("")
	if err != nil {
		t.Fatal(err)
	}
	used := make([]bool, len(myths))
	for _, l := range all {
		told := told(l.Text)
		if len(told) == 0 {
			t.Errorf("lesson %s has no myth", l.Number)
		}
		for _, text := range told {
			i := slices.IndexFunc(myths, func(m myth) bool { return m.lesson == l.Number && strings.HasPrefix(text, m.says) })
			if i < 0 || used[i] {
				t.Errorf("lesson %s: nothing is named that shows this myth false: %.70s", l.Number, text)
				continue
			}
			used[i] = true
			for _, e := range myths[i].shown {
				if why := e.lacks(t, l); why != "" {
					t.Errorf("lesson %s: %.50s: %s", l.Number, text, why)
				}
			}
		}
	}
	for i, m := range myths {
		if !used[i] {
			t.Errorf("no myth of lesson %s begins with %s", m.lesson, m.says)
		}
		if len(m.shown) == 0 {
			t.Errorf("lesson %s: %s: shown by nothing", m.lesson, m.says)
		}
	}
}

// told lists a lesson's myths, each on one line and without the marks of code.
func told(markdown string) []string {
	var all []string
	for _, text := range mythLine.Split(markdown, -1)[1:] {
		text, _, _ = strings.Cut(text, "\n\n")
		all = append(all, strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "`", ""))
	}
	return all
}

// lacks says why nothing is run for the evidence, "" when something is.
func (e evidence) lacks(t *testing.T, l lessons.Lesson) string {
	t.Helper()
	switch e.kind {
	case "demo":
		for line := range strings.Lines(l.Demo) {
			if strings.HasPrefix(line, "step ") && strings.Contains(line, e.what) {
				return ""
			}
		}
		return "its demo has no step " + e.what
	case "wrong":
		if _, err := fs.Stat(lessons.FS(), l.Slug+"/wrong/"+e.what+".edit"); err != nil {
			return err.Error()
		}
		return ""
	}
	dir, name, _ := strings.Cut(e.what, " ")
	if !slices.Contains(testsIn(t, dir), name) {
		return dir + " has no " + name
	}
	return ""
}

// testsIn lists the tests of a folder, given from the top of the tree.
func testsIn(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(dir), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names
}
