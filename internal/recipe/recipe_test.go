package recipe

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

const (
	uuid = "_c_2f3a1b64-8c1d-4f1e-9b59-0a5a4d0c9e11-"
	hex  = "0f3a1b648c1d4f1e9b590a5a4d0c9e11"
)

func TestParse_namesOfEachLibrary(t *testing.T) {
	for name, want := range map[string]Contender{
		"lock-0000000000":                     {Seq: 0, Family: Plain},
		"lock-2147483647":                     {Seq: 2147483647, Family: Plain},
		"read-0000000050":                     {Seq: 50, Intent: Read, Family: Plain},
		uuid + "lock-0000000041":              {Seq: 41, Family: Curator},
		uuid + "__READ__0000000007":           {Seq: 7, Intent: Read, Family: Curator},
		uuid + "__WRIT__0000000008":           {Seq: 8, Intent: Write, Family: Curator},
		"leases/" + uuid + "lease-0000000009": {Seq: 9, Intent: Lease, Family: Curator},
		"_c_" + hex + "-lock-0000000042":      {Seq: 42, Family: GoZookeeper},
		hex + "__lock__0000000003":            {Seq: 3, Family: Kazoo},
		hex + "__rlock__0000000004":           {Seq: 4, Intent: Read, Family: Kazoo},
		hex + "-lock-0000000005":              {Seq: 5, Family: Kazoo},
	} {
		want.Name = name
		if got, ok := Parse(name); !ok || got != want {
			t.Errorf("Parse(%q) = %+v, %v, want %+v", name, got, ok, want)
		}
	}
}

func TestParse_foreignNames(t *testing.T) {
	for _, name := range []string{
		"", "lock", "lock-", "_c_x", "lock-12345", "lock-00000000001", "0000000001", "config", "locks",
		"_c_-lock-0000000001", "block-0000000001", "xx-lock-0000000001", "lock-000000000x", "lock--000000001",
		"wall-lock-0000000001", "zz__lock__0000000001", "__lock__0000000001", ".",
	} {
		if got, ok := Parse(name); ok {
			t.Errorf("Parse(%q) = %+v, want foreign", name, got)
		}
	}
}

func TestStandings(t *testing.T) {
	r, w := uuid+"__READ__", uuid+"__WRIT__"
	cases := []struct {
		name     string
		kind     Kind
		permits  int
		children []string
		want     []string // name holds|name>waitsFor|name?
		foreign  []string
	}{
		{"mutex by number, not by text", Mutex, 0,
			[]string{uuid + "lock-0000000010", "config", "_c_" + hex + "-lock-0000000009", "lock-0000000011"},
			[]string{"_c_" + hex + "-lock-0000000009!", uuid + "lock-0000000010>" + "_c_" + hex + "-lock-0000000009",
				"lock-0000000011>" + uuid + "lock-0000000010"}, []string{"config"}},
		{"readers share, writers do not", ReadWrite, 0,
			[]string{w + "0000000002", r + "0000000000", r + "0000000001", r + "0000000003", w + "0000000004"},
			[]string{r + "0000000000!", r + "0000000001!", w + "0000000002>" + r + "0000000001",
				r + "0000000003>" + w + "0000000002", w + "0000000004>" + r + "0000000003"}, nil},
		{"kazoo does not see Curator", Mutex, 0,
			[]string{uuid + "lock-0000000001", hex + "__lock__0000000002", hex + "__lock__0000000003"},
			[]string{uuid + "lock-0000000001!", hex + "__lock__0000000002!",
				hex + "__lock__0000000003>" + hex + "__lock__0000000002"}, nil},
		{"semaphore of two", Semaphore, 2,
			[]string{"locks/lock-0000000008", "leases/lease-0000000003", "leases/lease-0000000001", "leases/lease-0000000002", "locks/lock-0000000007"},
			[]string{"leases/lease-0000000001!", "leases/lease-0000000002!", "leases/lease-0000000003?",
				"locks/lock-0000000007?", "locks/lock-0000000008>locks/lock-0000000007"}, nil},
		{"unfair", Unfair, 0, []string{".", "sub"}, []string{".!"}, []string{"sub"}},
		{"a mutex counts no lease", Mutex, 0, []string{"lease-0000000001"}, nil, []string{"lease-0000000001"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			standings, foreign := Standings(c.kind, c.permits, c.children)
			var got []string
			for _, s := range standings {
				got = append(got, word(s))
			}
			if !slices.Equal(got, c.want) || !slices.Equal(foreign, c.foreign) {
				t.Errorf("got  %q foreign %q\nwant %q foreign %q", got, foreign, c.want, c.foreign)
			}
		})
	}
}

func word(s Standing) string {
	switch {
	case s.Holds:
		return s.Name + "!"
	case s.WaitsFor == "":
		return s.Name + "?"
	default:
		return s.Name + ">" + s.WaitsFor
	}
}

func TestStandings_anyOrderOfTheListGivesOneQueue(t *testing.T) {
	names := make([]string, 50)
	for i := range names {
		names[i] = fmt.Sprintf("lock-%010d", i*7)
	}
	want, _ := Standings(Mutex, 0, names)
	for range 20 {
		rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		if got, _ := Standings(Mutex, 0, names); !slices.Equal(got, want) {
			t.Fatalf("a shuffled list gave another queue: %v", got)
		}
	}
}

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		children []string
		kind     Kind
		known    bool
	}{
		{nil, Mutex, false},
		{[]string{"config"}, Mutex, false},
		{[]string{"x", "lock-0000000001"}, Mutex, true},
		{[]string{uuid + "__WRIT__0000000001"}, ReadWrite, true},
		{[]string{"leases/" + uuid + "lease-0000000001"}, Semaphore, true},
	} {
		if kind, known := Detect(c.children); kind != c.kind || known != c.known {
			t.Errorf("Detect(%q) = %v, %v", c.children, kind, known)
		}
	}
}

func TestStrangers(t *testing.T) {
	if _, _, bad := Strangers([]string{uuid + "lock-0000000001", "lock-0000000002"}); bad {
		t.Error("Curator and plain names exclude each other")
	}
	if _, _, bad := Strangers([]string{hex + "-lock-0000000001", "lock-0000000002"}); bad {
		t.Error("kazoo with node name -lock- respects Curator's names")
	}
	if _, _, bad := Strangers([]string{hex + "__lock__0000000001", "lock-0000000002"}); !bad {
		t.Error("kazoo's own names and Curator's do not exclude each other")
	}
}

func TestKindOf(t *testing.T) {
	for name, want := range map[string]Kind{"mini": Mutex, "naive": Mutex, "mutex": Mutex, "unfair": Unfair,
		"read": ReadWrite, "write": ReadWrite, "semaphore": Semaphore, "semaphore-mutex": Semaphore, "": Mutex} {
		if got := KindOf(name); got != want {
			t.Errorf("KindOf(%q) = %v, want %v", name, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"lock-0000000000", uuid + "lock-0000000001", hex + "__lock__0000000002", "_c_x", "a/b", "\xff0000000001"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		c, ok := Parse(name)
		if ok && (c.Name != name || c.Seq < 0 || c.Seq > 9999999999 || c.Family == "") {
			t.Fatalf("Parse(%q) = %+v", name, c)
		}
		for _, kind := range []Kind{Mutex, Unfair, ReadWrite, Semaphore} {
			standings, foreign := Standings(kind, 1, []string{name, "lock-0000000001", Itself})
			if len(standings)+len(foreign) != 3 {
				t.Fatalf("%v of %q lost a child: %v %v", kind, name, standings, foreign)
			}
		}
	})
}
