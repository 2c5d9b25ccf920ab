package definition

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestReachabilityEqualsTheModel draws graphs of PROCESS phases, each with a way out, and compares the rows with
// Warshall's transitive closure.
func TestReachabilityEqualsTheModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "phases")
		node := func(i int) string { // 0 is START, 1 is END
			return append([]string{"s", "e"}, names(n)...)[i]
		}
		var edges []string
		joined := make([][]bool, n+2)
		for i := range joined {
			joined[i] = make([]bool, n+2)
			joined[i][i] = true
		}
		for from := range n + 2 {
			if from == 1 {
				continue
			}
			targets := rapid.SliceOfN(rapid.IntRange(1, n+1), 1, 3).Draw(t, "targets")
			for k, to := range targets {
				name := fmt.Sprintf("way%d", k)
				if from == 0 {
					if k > 0 {
						break
					}
					name = "next"
				}
				joined[from][to] = true
				edges = append(edges, fmt.Sprintf("%s>%s:%s", node(from), node(to), name))
			}
		}
		for k := range joined {
			for i := range joined {
				for j := range joined {
					joined[i][j] = joined[i][j] || joined[i][k] && joined[k][j]
				}
			}
		}
		var want, got []string
		for i := range joined {
			switch {
			case !joined[0][i]:
				want = append(want, fmt.Sprintf("definition.phases[%s] from START", node(i)))
			case !joined[i][1]:
				want = append(want, fmt.Sprintf("definition.phases[%s] to END", node(i)))
			}
		}
		_, rows := Parse([]byte(graphOf(strings.Join(edges, " "), names(n)...)))
		for _, row := range rows {
			way := " to END"
			if strings.HasSuffix(row.Message, "from START.") {
				way = " from START"
			}
			got = append(got, row.Field+way)
		}
		require.Equal(t, want, got)
	})
}

func names(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("p%d", i))
	}
	return out
}

// TestSplitLosesNothing: whatever a template holds, its pieces put together again are the template.
func TestSplitLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		source := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
			"${", "}", "{", `"`, "'", `\`, "r", "b", "//", "\n", "a", "é", "$", `"""`, "'''",
		})).Draw(t, "source"), "")
		pieces, err := split(source)
		if err != nil {
			return
		}
		var b strings.Builder
		for _, p := range pieces {
			if p.code {
				b.WriteString("${" + p.text + "}")
			} else {
				b.WriteString(p.text)
			}
		}
		require.Equal(t, source, b.String())
	})
}
