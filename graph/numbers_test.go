package graph_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/principal"
	"atrium/internal/test/apitest"
)

// Numbers in JSON values keep the digits that were sent, in literals and in variables.
func TestNumbersKeepTheirDigits(t *testing.T) {
	t.Parallel()
	const (
		written = `{whole: 123456789012345678, long: 12345678901234567890123, tenths: 1.10, small: 1e-3, list: [{n: 0.30}]}`
		kept    = `{"list":[{"n":0.30}],"long":12345678901234567890123,"small":1e-3,"tenths":1.10,"whole":123456789012345678}`
	)
	each(t, func(t *testing.T, s *apitest.Server) {
		r := opened(t, s).filed(t, s, principal.Member, "A laptop")
		update := func(header, fields string, variables vars) *apitest.Answer {
			if variables == nil {
				variables = vars{}
			}
			variables["id"] = r.ID
			return send(t, s, s.A.Agent, `mutation($id: ID!`+header+`) { updateRequest(input: {id: $id, fields: `+fields+`}) { request { fields } } }`, variables)
		}
		sent := vars{"f": json.RawMessage(kept)}
		for name, a := range map[string]func() *apitest.Answer{
			"literal":            func() *apitest.Answer { return update("", written, nil) },
			"the same once more": func() *apitest.Answer { return update("", written, nil) },
			"variable":           func() *apitest.Answer { return update(", $f: JSON", "$f", sent) },
			"default":            func() *apitest.Answer { return update(", $f: JSON = "+written, "$f", nil) },
			"variable in literal": func() *apitest.Answer {
				return update(", $n: JSON", `{whole: 123456789012345678, long: $n, tenths: 1.10, small: 1e-3, list: [{n: 0.30}]}`, vars{"n": json.RawMessage("12345678901234567890123")})
			},
		} {
			update("", "{other: 1}", nil)
			answer := a()
			require.Contains(t, string(answer.Body), `"fields":`+kept, name)
			require.Contains(t, string(s.Audit(t, answer.RequestID())[0].Changes), `"to":`+kept, name)
		}

		for name, a := range map[string]*apitest.Answer{
			"beyond a double":              update("", "{n: 1e999}", nil),
			"beyond a double in a default": update(", $f: JSON = {n: 1e999}", "$f", nil),
			"too long for an Int":          send(t, s, s.A.Agent, `{ requests(first: 99999999999999999999) { totalCount } }`, nil),
		} {
			require.Equal(t, 400, a.Status, "%s: %s", name, a.Body)
			require.Equal(t, "validation_error", a.Text("errors.0.extensions.code"), name)
			require.Equal(t, "query", a.Text("errors.0.extensions.details.0.field"), name)
		}
		a := update(", $f: JSON", "$f", vars{"f": json.RawMessage(`{"n": 1e999}`)})
		require.Equal(t, 400, a.Status)
		require.Equal(t, "body", a.Text("errors.0.extensions.details.0.field"), "%s", a.Body)
	})
}

// A whole number may be written with a point or an exponent in variables, as JSON allows.
func TestWholeNumbersInVariables(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		opened(t, s).filed(t, s, principal.Member, "A laptop")
		for _, first := range []string{"6e1", "60.0", "60"} {
			a := send(t, s, s.A.Agent, `query($n: Int) { requests(first: $n) { totalCount } }`, vars{"n": json.RawMessage(first)})
			require.Equal(t, 200, a.Status, "%s: %s", first, a.Body)
			require.Contains(t, string(a.Body), `"totalCount":1`, first)
		}
		for _, first := range []string{"60.5", "101.0", "1e30", `"60"`} {
			a := send(t, s, s.A.Agent, `query($n: Int) { requests(first: $n) { totalCount } }`, vars{"n": json.RawMessage(first)})
			require.Equal(t, "validation_error", a.Text("errors.0.extensions.code"), "%s: %s", first, a.Body)
		}
	})
}
