package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Limits of one script.
const (
	maxText    = 1 << 20
	maxActions = 20_000 // after repeats are written out
	maxDepth   = 4      // repeats within repeats
	maxErrors  = 20
)

// Parse reads a script. name stands before each error's line number; set gives
// values to parameters by name. The error is Errors, with every mistake found;
// or, for a value in set, one that names the parameter.
func Parse(name, text string, set map[string]string) (*Script, error) {
	if len(text) > maxText {
		return nil, Errors{{Name: name, Line: 1, Text: fmt.Sprintf("the script is longer than %d bytes", maxText)}}
	}
	p := &parser{name: name, vars: variables{}, set: set, script: &Script{Servers: 1}}
	for i, line := range strings.Split(text, "\n") {
		p.lines = append(p.lines, source{i + 1, strings.TrimSpace(line)})
	}
	p.block(p.lines, 0)
	if len(p.errors) == 0 && len(p.script.Steps) == 0 {
		p.fail(1, "the script does nothing: it has no statement")
	}
	if len(p.errors) > 0 {
		slices.SortStableFunc(p.errors, func(a, b *Error) int { return cmp.Compare(a.Line, b.Line) })
		return nil, slices.CompactFunc(p.errors, func(a, b *Error) bool { return *a == *b })
	}
	for key := range set {
		if !slices.ContainsFunc(p.script.Params, func(q Param) bool { return q.Name == key }) {
			return nil, &ParamError{Script: name, Name: key, Known: p.vars.sorted()}
		}
	}
	return p.script, nil
}

type source struct {
	line int
	text string
}

type parser struct {
	name    string
	lines   []source
	vars    variables
	set     map[string]string
	script  *Script
	open    bool // the last step takes more actions
	actions int
	asking  *Question // takes choices
	askedAt int
	errors  Errors
	stopped bool
}

func (p *parser) fail(line int, format string, args ...any) {
	p.errors = append(p.errors, &Error{p.name, line, fmt.Sprintf(format, args...)})
	if len(p.errors) >= maxErrors {
		p.stopped = true
	}
}

// block reads statements up to the end of lines; repeats are written out.
func (p *parser) block(lines []source, depth int) {
	for i := 0; i < len(lines) && !p.stopped; i++ {
		s := lines[i]
		if s.text == "" || strings.HasPrefix(s.text, "#") {
			continue
		}
		verb, rest, _ := strings.Cut(s.text, " ")
		if p.asking != nil && verb != "-" {
			p.endQuestion()
		}
		switch verb {
		case "repeat":
			end := p.matchingEnd(lines, i)
			if end < 0 {
				p.fail(s.line, "repeat without end")
				return
			}
			p.repeat(s, rest, lines[i+1:end], depth)
			i = end
		case "end":
			p.fail(s.line, "end without repeat")
		default:
			p.statement(s, verb, strings.TrimSpace(rest))
		}
	}
	if p.asking != nil {
		p.endQuestion()
	}
}

// matchingEnd finds the end that belongs to the repeat at i, or -1.
func (p *parser) matchingEnd(lines []source, i int) int {
	depth := 0
	for k := i; k < len(lines); k++ {
		switch word, _, _ := strings.Cut(lines[k].text, " "); word {
		case "repeat":
			depth++
		case "end":
			if depth--; depth == 0 {
				return k
			}
		}
	}
	return -1
}

func (p *parser) repeat(s source, count string, body []source, depth int) {
	if depth >= maxDepth {
		p.fail(s.line, "more than %d repeats within each other", maxDepth)
		return
	}
	filled, err := p.vars.fill(strings.TrimSpace(count))
	if err != nil {
		p.fail(s.line, "%v", err)
		return
	}
	n, err := strconv.Atoi(filled)
	if err != nil || n < 0 {
		p.fail(s.line, "repeat takes how many times, like: repeat 3")
		return
	}
	outer, had := p.vars["i"]
	before := len(p.errors)
	for i := 1; i <= n && !p.stopped && len(p.errors) == before; i++ {
		p.vars["i"] = strconv.Itoa(i)
		p.block(body, depth+1)
		if p.actions++; p.actions > maxActions {
			p.fail(s.line, "the script has more than %d statements with its repeats written out", maxActions)
			p.stopped = true
		}
	}
	delete(p.vars, "i")
	if had {
		p.vars["i"] = outer
	}
}

// statement reads one line that is no repeat.
func (p *parser) statement(s source, verb, rest string) {
	if verb == "param" {
		p.param(s, rest)
		return
	}
	rest, err := p.vars.fill(rest)
	if err != nil {
		p.fail(s.line, "%v", err)
		return
	}
	switch verb {
	case "title":
		p.script.Title = rest
	case "servers":
		if rest != "1" && rest != "3" {
			p.fail(s.line, "servers %s: a demo runs on 1 or 3", rest)
			break
		}
		p.script.Servers = int(rest[0] - '0')
	case "step":
		if rest == "" {
			p.fail(s.line, "a step needs a text: what it is about")
		}
		p.script.Steps = append(p.script.Steps, Step{Text: rest, Line: s.line})
		p.open = true
	case "predict":
		p.predict(s, rest)
	case "-":
		p.choice(s, rest)
	default:
		p.action(s, verb, rest)
	}
}

func (p *parser) param(s source, rest string) {
	q, err := parseParam(rest)
	if err != nil {
		p.fail(s.line, "%v", err)
		return
	}
	if _, twice := p.vars[q.Name]; twice || q.Name == "i" {
		p.fail(s.line, "$%s is there already", q.Name)
		return
	}
	if value, given := p.set[q.Name]; given {
		if err := q.set(value); err != nil {
			p.fail(s.line, "%v", err)
		}
	}
	p.script.Params = append(p.script.Params, q)
	p.vars[q.Name] = q.Value
}

// predict opens a question for the step it stands in, if nothing of that has
// run yet, and else for a new one.
func (p *parser) predict(s source, rest string) {
	if rest == "" {
		p.fail(s.line, "predict needs a question")
		return
	}
	steps := p.script.Steps
	if !p.open || len(steps[len(steps)-1].actions) > 0 || steps[len(steps)-1].Question != nil {
		p.script.Steps = append(steps, Step{Text: rest, Line: s.line})
		p.open = true
	}
	p.asking, p.askedAt = &Question{Text: rest, Answer: -1}, s.line
	p.script.Steps[len(p.script.Steps)-1].Question = p.asking
}

func (p *parser) choice(s source, rest string) {
	if p.asking == nil {
		p.fail(s.line, "a choice (- …) must follow its predict")
		return
	}
	text, right := strings.CutSuffix(rest, "*")
	if right {
		if p.asking.Answer >= 0 {
			p.fail(s.line, "two choices are marked as right with *")
		}
		p.asking.Answer = len(p.asking.Choices)
	}
	p.asking.Choices = append(p.asking.Choices, strings.TrimSpace(text))
}

func (p *parser) endQuestion() {
	if len(p.asking.Choices) < 2 {
		p.fail(p.askedAt, "predict needs at least two choices (- …) after it")
	} else if p.asking.Answer < 0 {
		p.fail(p.askedAt, "one choice must be marked as right: it ends with *")
	}
	p.asking = nil
}

func (p *parser) action(s source, verb, rest string) {
	do, err := parseAction(verb, rest)
	if err != nil {
		p.fail(s.line, "%v", err)
		return
	}
	if !p.open {
		p.script.Steps = append(p.script.Steps, Step{Text: verb + " " + rest, Line: s.line})
	}
	if p.actions++; p.actions > maxActions {
		p.fail(s.line, "the script has more than %d statements with its repeats written out", maxActions)
		p.stopped = true
	}
	step := &p.script.Steps[len(p.script.Steps)-1]
	step.actions = append(step.actions, action{s.line, strings.TrimSpace(verb + " " + rest), do})
}
