package definition

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fault is a definition, or the config of one phase, that is refused with exactly these rows ("field: message").
type fault struct {
	name  string
	input string
	rows  []string
}

// refused parses every input after wrap made a definition of it, and compares the rows.
func refused(t *testing.T, wrap func(string) string, faults []fault) {
	t.Helper()
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			d, rows := Parse([]byte(wrap(f.input)))
			require.Nil(t, d)
			var got []string
			for _, row := range rows {
				got = append(got, row.Field+": "+row.Message)
			}
			require.Equal(t, f.rows, got)
		})
	}
}

// accepted parses a definition that has no fault, and holds it against the schema as well.
func accepted(t testing.TB, raw string) *Definition {
	t.Helper()
	d, rows := Parse([]byte(raw))
	require.Empty(t, rows)
	require.NotNil(t, d)
	require.NoError(t, held(t, raw), raw)
	return d
}

func asIs(s string) string { return s }

// with makes a definition s → p → e of a phase p of the type with the config, which leaves it by the given ways.
func with(phaseType Type, ways ...string) func(config string) string {
	return func(config string) string {
		return phase(fmt.Sprintf(`"type":%q,"config":%s`, phaseType, config), ways...)
	}
}

// phase makes a definition s → p → e of a phase p with the given keys.
func phase(keys string, ways ...string) string {
	transitions := []string{`{"from":"s","name":"next","to":"p"}`}
	for _, way := range ways {
		transitions = append(transitions, fmt.Sprintf(`{"from":"p","name":%q,"to":"e"}`, way))
	}
	return fmt.Sprintf(`{"phases":[{"id":"s","type":"START"},{"id":"p",%s},{"id":"e","type":"END"}],"transitions":[%s]}`,
		keys, strings.Join(transitions, ","))
}

// graphOf makes a definition of PROCESS phases and edges ("a>b" or "a>b:name"); s is the START and e the END.
func graphOf(edges string, processes ...string) string {
	phases := []string{`{"id":"s","type":"START"}`, `{"id":"e","type":"END"}`}
	for _, id := range processes {
		phases = append(phases, fmt.Sprintf(`{"id":%q,"type":"PROCESS"}`, id))
	}
	var transitions []string
	for _, edge := range strings.Fields(edges) {
		edge, name, named := strings.Cut(edge, ":")
		if !named {
			name = "next"
		}
		from, to, _ := strings.Cut(edge, ">")
		transitions = append(transitions, fmt.Sprintf(`{"from":%q,"name":%q,"to":%q}`, from, name, to))
	}
	return fmt.Sprintf(`{"phases":[%s],"transitions":[%s]}`, strings.Join(phases, ","), strings.Join(transitions, ","))
}
