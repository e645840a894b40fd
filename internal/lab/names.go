package lab

import "fmt"

// first are the names that contestants get, in this order. They are short, and
// begin with different letters as long as there are letters.
var first = []string{
	"amber", "basil", "coral", "delta", "ember", "fjord", "grove", "hazel", "indigo", "juniper",
	"kelp", "lotus", "maple", "nova", "olive", "pearl", "quartz", "river", "sage", "thyme",
	"umber", "violet", "willow", "xenon", "yarrow", "zinc",
}

// nameOf gives the n-th name, from 0: amber … zinc, amber2 … zinc2, and so on.
func nameOf(n int) string {
	name, round := first[n%len(first)], n/len(first)
	if round == 0 {
		return name
	}
	return fmt.Sprintf("%s%d", name, round+1)
}
