package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/principal"
	"atrium/internal/test/apitest"
)

// refusal returns the code of an answer's first error.
func refusal(a *apitest.Answer) string { return a.Text("errors.0.extensions.code") }

// faults returns the fields that the details of the first error name.
func faults(a *apitest.Answer) []string {
	details, _ := a.Get("errors.0.extensions.details").([]any)
	out := []string{}
	for _, d := range details {
		field, _ := apitest.At(d, "field")
		text, _ := field.(string)
		out = append(out, text)
	}
	return out
}

// closedField is a field that requires a person who may run the company.
type closedField struct {
	name, query string
	in          vars
	about       bool // whether it names a row, which another company does not have
}

// holdClosed checks that fields refuse agents, members and every key, and that nothing changes.
func holdClosed(t *testing.T, s *apitest.Server, fields []closedField) {
	t.Helper()
	otherCompany := s.Session(t, s.World.B.Owner)
	before := s.Counts(t)
	for _, f := range fields {
		for _, role := range []principal.Role{principal.Agent, principal.Member} {
			for _, as := range []apitest.Caller{s.Session(t, s.World.A.Users[role]), s.A.Role(role)} {
				a := send(t, s, as, f.query, f.in)
				require.Equal(t, "forbidden", refusal(a), "%s as %s: %s", f.name, as.Name, a.Body)
				require.Equal(t, string(role), a.Text("errors.0.extensions.reason"))
				require.Regexp(t, `^dec_`, a.Text("errors.0.extensions.decisionId"))
			}
		}
		for _, as := range []apitest.Caller{s.A.OwnerKey, s.A.AdminKey, s.A.AgentKey, s.A.MemberKey, s.A.TestKey} {
			a := send(t, s, as, f.query, f.in)
			require.Equal(t, "forbidden", refusal(a), "%s as %s: %s", f.name, as.Name, a.Body)
			require.Equal(t, "api_key", a.Text("errors.0.extensions.reason"), "%s as %s", f.name, as.Name)
		}
		require.Equal(t, 401, send(t, s, apitest.Nobody, f.query, f.in).Status)
		if f.about {
			a := send(t, s, otherCompany, f.query, f.in)
			require.Equal(t, "not_found", refusal(a), "%s from another company: %s", f.name, a.Body)
		}
	}
	own := []string{"audit_entries", "row_counts", "access_decisions", "sessions"} // tables that refusals and the callers here write to
	require.Equal(t, apitest.Except(before, own...), apitest.Except(s.Counts(t), own...), "refusals change nothing")
}
