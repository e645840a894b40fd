package curatorlike

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestParseContender(t *testing.T) {
	for name, want := range map[string]int64{
		"_c_0a1b2c3d-0000-4000-8000-000000000000-lock-0000000007": 7,
		"_c_0a1b2c3d00004000800000000000000000-lock-0000000007":   7, // go-zookeeper
		"deadbeef-lock-0000000012":                                12,
		"lock-0000000003":                                         3,
		"lock-2147483647":                                         2147483647,
		"lock-block-0000000003":                                   -2,
		"lock--2147483648":                                        -2147483648, // an overflow is seen
		"lock-":                                                   -2,
		"lock-abc":                                                -2,
		"lock-000000000x":                                         -2,
		"lock-7":                                                  -2,
		"lock-+000000007":                                         -2,
		"lock-00000000070000000000000000000":                      -2,
		"_c_x":                                                    -2,
		"":                                                        -2,
		"config":                                                  -2,
		"a__lock__0000000001":                                     -2, // kazoo's own
		"_c_a-__READ__0000000001":                                 -2,
	} {
		c, ok := parseContender(name, lockName)
		if name == "lock-block-0000000003" {
			// the kind is looked for from the end: "block-" ends in "lock-"
			want = 3
		}
		if ok != (want != -2) || ok && c.seq != want {
			t.Errorf("%q: %v %v, want %d", name, c, ok, want)
		}
	}
}

// TestStanding_bug05_prefixIsNoOrder: only the number counts, whatever stands before it.
func TestStanding_bug05_prefixIsNoOrder(t *testing.T) {
	me := contender{"_c_0-lock-0000000010", lockName, 10}
	p := mutexRule.standing(me, []string{
		"_c_f-lock-0000000009", "_c_0-lock-0000000010", "_c_00-lock-0000000011",
		"zz-lock-0000000002", "junk", "_c_x", "config-0000000001",
	}, nil)
	if !p.own || p.twin || p.count != 2 || p.near.seq != 9 || p.far.seq != 2 {
		t.Errorf("%+v", p)
	}
}

func TestStanding_bug01_sameNumberTwice(t *testing.T) {
	me := contender{"_c_a-lock-2147483647", lockName, 2147483647}
	p := mutexRule.standing(me, []string{me.name, "_c_b-lock-2147483647"}, nil)
	if !p.twin {
		t.Errorf("%+v", p)
	}
}

// TestStanding_bug38_laterWritersDoNotCount: W1, R, W2; the reader waits for
// W1 alone, and W2 for both.
func TestStanding_bug38_laterWritersDoNotCount(t *testing.T) {
	kids := []string{"a-__WRIT__0000000003", "a-__READ__0000000002", "a-__WRIT__0000000001"}
	r := readRule.standing(contender{kids[1], readName, 2}, kids, nil)
	if r.count != 1 || r.near.seq != 1 {
		t.Errorf("reader: %+v", r)
	}
	w := writeRule.standing(contender{kids[0], writeName, 3}, kids, nil)
	if w.count != 2 || w.near.seq != 2 || w.far.seq != 1 {
		t.Errorf("writer: %+v", w)
	}
	alone := readRule.standing(contender{kids[1], readName, 2}, kids[:2], nil)
	if alone.count != 0 || !alone.own {
		t.Errorf("reader without W1: %+v", alone)
	}
}

// TestStanding_random compares with the plain definition.
func TestStanding_random(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n := 1 + rng.IntN(12)
		var kids []string
		for i := range n {
			if rng.IntN(4) > 0 {
				kids = append(kids, fmt.Sprintf("x%d-lock-%010d", rng.IntN(100), i))
			}
		}
		if len(kids) == 0 {
			continue
		}
		me, _ := parseContender(kids[rng.IntN(len(kids))], lockName)
		smaller := 0
		near, far := int64(-1), int64(-1)
		for _, k := range kids {
			if c, _ := parseContender(k, lockName); c.seq < me.seq {
				smaller++
				near, far = c.seq, near // kids are in order
			}
		}
		rng.Shuffle(len(kids), func(i, j int) { kids[i], kids[j] = kids[j], kids[i] })
		p := mutexRule.standing(me, kids, nil)
		if p.count != smaller || smaller > 0 && p.near.seq != near || smaller > 1 && p.far.seq != far || !p.own {
			t.Fatalf("%v in %v: %+v", me, kids, p)
		}
	}
}

func TestGUID_isCurators(t *testing.T) {
	g := newGUID()
	var parts [5]int
	if n, err := fmt.Sscanf(g, "%8x-%4x-%4x-%4x-%12x", &parts[0], &parts[1], &parts[2], &parts[3], &parts[4]); n != 5 || err != nil || len(g) != 36 {
		t.Errorf("%q: %d %v", g, n, err)
	}
	name := protected(g, lockName) + "0000000001"
	if !hasGUID(name, g) || hasGUID(name, newGUID()) || hasGUID("_c_x", g) {
		t.Error(name)
	}
}

func TestCheckPath(t *testing.T) {
	for _, ok := range []string{"/a", "/a/b-c", "/ä/日本"} {
		if err := checkPath(ok); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"", "a", "a/b", "/", "/a/", "//a", "/a//b", "/a/./b", "/..", "/a\x00", "/a\x1f", "/\xff", "/\ue000"} {
		if err := checkPath(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestSplitConnect(t *testing.T) {
	servers, chroot, err := splitConnect("a:1, b ,[::1]:3/x/y/")
	if err != nil || fmt.Sprint(servers) != "[a:1 b:2181 [::1]:3]" || chroot != "/x/y" {
		t.Error(servers, chroot, err)
	}
	if _, _, err := splitConnect(" , /x"); err == nil {
		t.Error("no server is accepted")
	}
}
