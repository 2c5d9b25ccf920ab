package definition

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a move leaves out of what people do: a and b are tasks; m, n and k are none.
func TestPassed(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		name, graph, from, to string
		want                  []string
	}{
		{"over a task", "s>m m>a a>n n>e", "m", "n", []string{"a"}},
		{"to the END", "s>m m>a a>n n>b b>e", "m", "e", []string{"a", "b"}},
		{"to the task itself", "s>m m>a a>n n>b b>e", "m", "a", nil},
		{"away from a task that failed", "s>a a>n n>e", "a", "n", []string{"a"}},
		{"where it stands", "s>a a>n n>e", "a", "a", nil},
		{"back", "s>m m>n n>a a>k k>e", "n", "m", nil},
		{"back, from where a decision may leave the task out", "s>m m>n m>e:skip n>a a>e", "n", "m", nil},
		{"on a way that might not have led through it", "s>m m>n n>a n>k:small a>k k>e", "m", "k", []string{"a"}},
		{"to where that is decided", "s>m m>n n>a n>k:small a>k k>e", "m", "n", nil},
		{"onto another branch", "s>n n>m n>k:other m>a a>e k>e", "m", "k", []string{"a"}},
		{"behind a task that may come again", "s>m m>a a>n n>a:again n>e", "m", "n", []string{"a"}},
		{"what comes on every way", "s>m m>n m>k:short n>k k>a a>e", "m", "k", nil},
		{"from a phase that is gone", "s>m m>a a>n n>e", "", "n", []string{"a"}},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			used := slices.DeleteFunc([]string{"a", "b", "m", "n", "k"}, func(id string) bool { return !strings.Contains(one.graph, ">"+id) })
			d := accepted(t, graphOf(one.graph, used...))
			for _, p := range d.Phases {
				if p.ID == "m" || p.ID == "n" || p.ID == "k" {
					p.Process = nil
				}
			}
			var got []string
			for _, p := range d.Passed(d.Phase(one.from), d.Phase(one.to)) {
				got = append(got, p.ID)
			}
			require.Equal(t, one.want, got)
		})
	}
}
