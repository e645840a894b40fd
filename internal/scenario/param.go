package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// paramKind is the type of a parameter, which its default tells.
type paramKind string

const (
	aNumber   paramKind = "a number"
	aDuration paramKind = "a duration, like 2s or 500ms"
	aWord     paramKind = "one word"
)

// kindOf tells the type of a value as written.
func kindOf(value string) paramKind {
	if _, err := strconv.Atoi(value); err == nil {
		return aNumber
	}
	if _, err := time.ParseDuration(value); err == nil {
		return aDuration
	}
	return aWord
}

// parseParam reads what follows "param": NAME = DEFAULT [MIN..MAX] [: HELP].
func parseParam(rest string) (Param, error) {
	rest, help, _ := strings.Cut(rest, ":")
	words := strings.Fields(rest)
	if len(words) < 3 || len(words) > 4 || words[1] != "=" || !isName(words[0]) {
		return Param{}, fmt.Errorf("a parameter is written: param NAME = DEFAULT [MIN..MAX] [: HELP]")
	}
	p := Param{Name: words[0], Default: words[2], Value: words[2], Help: strings.TrimSpace(help), kind: kindOf(words[2])}
	if len(words) == 4 {
		low, high, found := strings.Cut(words[3], "..")
		if !found || kindOf(low) != p.kind || kindOf(high) != p.kind {
			return Param{}, fmt.Errorf("bounds are written MIN..MAX, both %s", p.kind)
		}
		p.low, p.high = low, high
	}
	return p, p.set(p.Default)
}

// set gives the parameter a value, or says why it cannot have that one.
func (p *Param) set(value string) error {
	kind := kindOf(value)
	if kind == aNumber && value == "0" && p.kind == aDuration {
		kind, value = aDuration, "0s"
	}
	if p.kind == aWord && !isName(value) || p.kind != aWord && p.kind != kind {
		return fmt.Errorf("%s is %q: it must be %s", p.Name, value, p.kind)
	}
	if p.low != "" && (amount(value) < amount(p.low) || amount(value) > amount(p.high)) {
		return fmt.Errorf("%s is %s: it must be from %s to %s", p.Name, value, p.low, p.high)
	}
	p.Value = value
	return nil
}

// amount makes values of one kind comparable.
func amount(value string) int64 {
	if n, err := strconv.Atoi(value); err == nil {
		return int64(n)
	}
	d, _ := time.ParseDuration(value)
	return int64(d)
}

// variables are what $NAME may stand for.
type variables map[string]string

// fill replaces each $NAME, and sums of numbers like $NAME+1-$i.
func (v variables) fill(text string) (string, error) {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, "$")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		n := nameLength(after)
		value, known := v[after[:n]]
		if !known {
			return "", v.unknown(after[:n])
		}
		text = after[n:]
		var err error
		for err == nil && len(text) > 1 && (text[0] == '+' || text[0] == '-') && (text[1] == '$' || text[1] >= '0' && text[1] <= '9') {
			value, text, err = v.add(value, text)
		}
		if err != nil {
			return "", err
		}
		out.WriteString(value)
	}
}

// add takes one "+N" or "-$NAME" from the front of text and adds it to value.
func (v variables) add(value, text string) (sum, rest string, err error) {
	sign, term := text[0], text[1:]
	var operand string
	if term[0] == '$' {
		n := nameLength(term[1:])
		known := false
		if operand, known = v[term[1:1+n]]; !known {
			return "", "", v.unknown(term[1 : 1+n])
		}
		rest = term[1+n:]
	} else {
		n := 0
		for n < len(term) && term[n] >= '0' && term[n] <= '9' {
			n++
		}
		operand, rest = term[:n], term[n:]
	}
	a, errA := strconv.Atoi(value)
	b, errB := strconv.Atoi(operand)
	if errA != nil || errB != nil {
		return "", "", fmt.Errorf("%s%s: only numbers can be added", value, text)
	}
	if sign == '-' {
		b = -b
	}
	return strconv.Itoa(a + b), rest, nil
}

func (v variables) unknown(name string) error {
	return fmt.Errorf("there is no $%s; known are %s", name, v.names())
}

// ParamError is returned when a parameter is set that a script does not have.
type ParamError struct {
	Script, Name string
	Known        []string // which it has
}

func (e *ParamError) Error() string {
	return fmt.Sprintf("%s has no parameter %q; it has %s", e.Script, e.Name, dollars(e.Known))
}

func (v variables) names() string { return dollars(v.sorted()) }

func (v variables) sorted() []string { return slices.Sorted(maps.Keys(v)) }

func dollars(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return "$" + strings.Join(names, ", $")
}

func nameLength(s string) int {
	n := 0
	for n < len(s) && (s[n] >= 'a' && s[n] <= 'z' || n > 0 && (s[n] >= '0' && s[n] <= '9')) {
		n++
	}
	return n
}

// isName reports whether s can name a parameter, a contestant or a recipe.
func isName(s string) bool {
	if s == "" || len(s) > 64 || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}
