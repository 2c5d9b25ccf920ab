package doors

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/catalog"
	"atrium/internal/op"
	"atrium/internal/policy"
	"atrium/internal/test/apitest"
)

// denials are access policies that hide rows, forbid changes of some rows, and forbid an action on all rows. They do not apply to
// sessions, which make the rows that the calls are about.
var denials = []policy.CreateInput{
	{Name: "Members see no services", Action: "read", Resource: "Service", Condition: when(`{"principal.role": "member", "context.authMethod": {"ne": "session"}}`)},
	{Name: "Agents leave what is not urgent", Action: "update", Resource: "Request", Condition: when(`{"principal.role": "agent", "resource.priority": "MEDIUM"}`)},
	{Name: "Keys have no teams", Action: "*", Resource: "Team", Condition: when(`{"context.authMethod": "api_key"}`)},
	{Name: "Admins write no workflows", Action: "create", Resource: "Workflow", Condition: when(`{"principal.role": "admin"}`)},
	{Name: "Tokens keep secrets", Action: "delete", Resource: "Secret", Condition: when(`{"context.authMethod": "bearer", "resource.name": {"prefix": "SX"}}`)},
	{Name: "Agents know no members", Action: "read", Resource: "User", Condition: when(`{"principal.role": "agent", "resource.role": "member"}`)},
	{Name: "Organizations stay as they are", Action: "update", Resource: "Organization", Condition: when(`{"principal.id": {"exists": true}, "context.authMethod": ["bearer", "api_key"]}`)},
	{Name: "What is archived is gone", Action: "read", Resource: "*", Condition: when(`{"resource.status": "archived", "context.authMethod": {"ne": "session"}}`)},
}

func when(condition string) *policy.Condition { return new(policy.NewCondition([]byte(condition))) }

// whoever returns callers of every role, by token and by key, and one of another company, to which these policies do not apply.
func whoever(s *apitest.Server) []apitest.Caller {
	otherOwner := s.B.Owner
	otherOwner.Name = "stranger's token"
	return []apitest.Caller{s.A.Owner, s.A.Admin, s.A.Agent, s.A.Member, s.A.OwnerKey, s.A.AdminKey, s.A.AgentKey, s.A.MemberKey, otherOwner}
}

func deny(t *testing.T, s *apitest.Server) {
	t.Helper()
	d := newSide(t, s)
	for _, in := range denials {
		in.Effect = "Deny"
		by(d, policy.Create, in)
	}
}

// Access policies decide the same in both APIs: what they refuse and for which reason, what they hide, which rows may not be
// named as a parent, and what is audited.
func TestBothDoorsObeyPolicies(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		deny(t, s)
		refused := map[string][]string{} // by call, who was refused by a policy
		for _, c := range calls {
			for _, as := range whoever(s) {
				out := compare(t, s, c, as)
				// Callers who may write policies are not told which one hides a row.
				if strings.Contains(out.Reason, "pol_") || out.Code == "forbidden" && out.Reason == "" {
					require.Equal(t, "forbidden", out.Code, "%s as %s", c.name, as.Name)
					refused[c.name] = append(refused[c.name], as.Name)
				}
			}
		}
		for name, want := range map[string][]string{
			"read a service":         {"member's token", "member's key"},
			"create a workflow":      {"admin's token", "admin's key"},
			"accept a request":       {"agent's token", "agent's key"},
			"delete a secret":        {"owner's token", "admin's token"},
			"read a user":            {"agent's token", "agent's key"},
			"update an organization": {"owner's token", "admin's token", "owner's key", "admin's key"},
		} {
			require.Equal(t, want, refused[name], name)
		}
		require.Contains(t, refused["read a team"], "owner's key")
		require.NotContains(t, refused["read a team"], "owner's token")
		for name, who := range refused {
			require.NotContains(t, who, "stranger's token", "%s: another company's policies bind nobody here", name)
		}
	})
}

// Rows that policies hide are in no list of either API, nor in its total.
func TestBothDoorsListWhatPoliciesLeave(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		deny(t, s)
		d := newSide(t, s)
		d.request()
		d.team()
		archived := newSide(t, s).service()
		by(d, catalog.UpdateService, catalog.UpdateServiceInput{ByID: op.ByID{ID: archived}, Status: op.SetTo("archived")})
		seen := map[string]int{}
		for _, c := range lists {
			c.method = http.MethodGet
			if c.args == "" {
				c.args = "first: 20"
			}
			for _, as := range whoever(s) {
				out := compare(t, s, c, as)
				raw, err := json.Marshal(out.Data)
				require.NoError(t, err)
				require.NotContains(t, string(raw), archived, "%s as %s", c.name, as.Name)
				rows, _ := out.Data.([]any)
				seen[c.name+" as "+as.Name] = len(rows)
			}
		}
		for who, want := range map[string]int{
			"services as owner's token": 1, "services as member's token": 0, "services as agent's key": 1,
			"archived services as owner's key": 0,
			"teams as owner's token":           1, "teams as owner's key": 0,
		} {
			require.Equal(t, want, seen[who], who)
		}
		require.Equal(t, seen["users as agent's token"], seen["users as owner's token"]-1, "the one member is hidden from agents")
	})
}
