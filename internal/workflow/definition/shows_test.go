package definition

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// showing makes a definition s → price → p → after → e, of which p shows what the list says.
func showing(shows string) string {
	p := fmt.Sprintf(`{"id":"p","type":"APPROVAL","config":{"approvers":[{"type":"user","id":"u"}],"mode":"any","shows":%s}}`, shows)
	return strings.Replace(graphOf("s>price price>p p>after:approved p>e:rejected after>e", "price", "after"), `"phases":[`, `"phases":[`+p+",", 1)
}

func TestAPhaseShowsEarlierResults(t *testing.T) {
	t.Parallel()
	of := func(d *Definition) Shows { return d.Phase("p").Approval.Shows }
	require.Equal(t, Shows{"price"}, of(accepted(t, showing(`["price"]`))))
	require.Equal(t, Shows{}, of(accepted(t, showing(`[]`))), "nothing")
	require.Nil(t, of(accepted(t, showing(`null`))), "the default")
	t.Run("its own from before, in a loop", func(t *testing.T) {
		t.Parallel()
		d := accepted(t, strings.Replace(graphOf("s>p p>p:again p>e"), `"phases":[`, `"phases":[{"id":"p","type":"PROCESS","config":{"shows":["p"]}},`, 1))
		require.Equal(t, Shows{"p"}, d.Phase("p").Process.Shows)
	})
	t.Run("those of its branch, and of a block before it", func(t *testing.T) {
		t.Parallel()
		task := func(id, shows string) string {
			return `{"id":"` + id + `","type":"PROCESS","config":{"shows":` + shows + `}}`
		}
		accepted(t, blocks("s>first first>b a>p p>j c>j x>k after>e", []string{
			parallel("b", "a c", "j", ""), joins("j", "each"), task("p", `["first","a"]`), each("each", "x", "k", ""), joins("k", "after"), task("after", `["c","x"]`),
		}, "first", "a", "c", "x"))
	})
}

func TestAPhaseShowsNothingElse(t *testing.T) {
	t.Parallel()
	const at = "definition.phases[p].config.shows"
	refused(t, showing, []fault{
		{"no list", `"price"`, []string{at + `: Must be a list, not a string.`}},
		{"no ids", `[7]`, []string{at + `[0]: Must be a string, not a number.`}},
		{"no phase", `["price","cost"]`, []string{at + `[1]: No phase has the id "cost".`}},
		{"a phase twice", `["price","price"]`, []string{at + `[1]: The phase "price" is in the list already.`}},
		{"more than 20", `["` + strings.Repeat(`p","`, 20) + `p"]`, []string{at + `: May hold at most 20 entries.`}},
		{"what comes after it", `["after"]`, []string{at + `[0]: The phase "after" cannot come before this one.`}},
		{"itself", `["p"]`, []string{at + `[0]: The phase "p" cannot come before this one.`}},
	})
	refused(t, asIs, []fault{{"what another branch does", blocks("s>b a>j p>j", []string{
		parallel("b", "a p", "j", ""), joins("j", "e"), `{"id":"p","type":"PROCESS","config":{"shows":["a"]}}`,
	}, "a"), []string{at + `[0]: The phase "a" cannot come before this one.`}}})
	refused(t, with(Timer, "next"), []fault{{"other phases", `{"duration":"1h","shows":["s"]}`, []string{"definition.phases[p].config.shows: Is not a known field."}}})
}

func TestOutline(t *testing.T) {
	t.Parallel()
	o, err := OutlineOf([]byte(`{"phases":[{"id":"s","type":"START"},{"id":"unit_price","type":"PROCESS","participants":[{"role":"accountable","type":"user","id":"u"}],
		"config":{"shows":[],"form":{"fields":[{"key":"n","label":"Price","type":"number"}]}}},{"id":"e","type":"END","name":"The end","config":null}],
		"transitions":[{"from":"s","name":"next","to":"unit_price"},{"from":"unit_price","name":"next","to":"e"},{"from":"unit_price","name":"no","to":"e"}]}`))
	require.NoError(t, err)
	p := o["unit_price"]
	require.Equal(t, []any{"Unit price", Process, true, 2, "Price", Shows{}}, []any{p.Title, p.Type, p.SignedOff, p.Ways, p.Questions[0].Label, p.Shows})
	require.Equal(t, "The end", o["e"].Title)
	require.False(t, o["s"].SignedOff)
	require.Nil(t, o["s"].Shows)
	_, err = OutlineOf([]byte(`[]`))
	require.Error(t, err)
}

func TestInWords(t *testing.T) {
	t.Parallel()
	for name, words := range map[string]string{"": "", "price": "Price", "unit_price": "Unit price", "unitPrice": "Unit price", "IBAN": "Iban", "größe": "Größe"} {
		require.Equal(t, words, InWords(name))
	}
}
