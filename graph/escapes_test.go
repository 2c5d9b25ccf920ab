package graph_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/principal"
	"atrium/internal/test/apitest"
)

// A document may write a character beyond U+FFFF as the escapes of its two halves, as JSON does.
func TestEscapesOfSurrogatePairs(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		r := opened(t, s).filed(t, s, principal.Member, "A laptop")
		rename := func(literal string) *apitest.Answer {
			return send(t, s, s.A.Agent, `mutation { updateRequest(input: {id: "`+r.ID+`", title: `+literal+`}) { request { title } } }`, nil)
		}
		for literal, want := range map[string]string{
			`"a \ud83d\ude00 b"`:         "a 😀 b",
			`"\uD83D\uDE00\ud83d\ude01"`: "😀😁",
			`"# \u0041\ud83d\ude00"`:     "# A😀",
			`"\\ud83d"`:                  `\ud83d`,
			`"""\ud83d"""`:               `\ud83d`,
		} {
			a := rename(literal)
			var got struct {
				Data struct {
					UpdateRequest struct{ Request struct{ Title string } }
				}
			}
			require.NoError(t, json.Unmarshal(a.Body, &got))
			require.Equal(t, want, got.Data.UpdateRequest.Request.Title, "%s: %s", literal, a.Body)
		}
		for _, literal := range []string{`"\ud83d"`, `"\ude00\ud83d"`, `"\u0041\ude00"`, `"\ud83dx"`} {
			a := rename(literal)
			require.Equal(t, 400, a.Status, "%s: %s", literal, a.Body)
			require.Equal(t, "query", a.Text("errors.0.extensions.details.0.field"), literal)
		}
	})
}

// A JSON value in a document is as deep as one in a body may be.
func TestDepthOfLiterals(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		r := opened(t, s).filed(t, s, principal.Member, "A laptop")
		set := func(levels int) *apitest.Answer {
			deep := strings.Repeat("[", levels) + "1" + strings.Repeat("]", levels)
			return send(t, s, s.A.Agent, `mutation { updateRequest(input: {id: "`+r.ID+`", fields: {a: `+deep+`}}) { request { id } } }`, nil)
		}
		require.False(t, set(98).Has("errors"))
		a := set(99)
		require.Equal(t, 400, a.Status, "%s", a.Body)
		require.Equal(t, "validation_error", a.Text("errors.0.extensions.code"))
	})
}
