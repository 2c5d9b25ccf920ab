package authz_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/authz"
	"atrium/ent"
	"atrium/ent/service"
	"atrium/ent/user"
	"atrium/internal/platform/id"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// Lists and single decisions agree exactly: over random rows, callers and sets of policies, a narrowed query returns exactly the
// rows that a decision allows, and its count is their number. In some cases it is compared with what policies/README.md says, too.
// ATRIUM_DIFFERENTIAL_CASES is the number of cases (policy set × caller × row) for each database; ATRIUM_DIFFERENTIAL_SEED
// repeats a run.
func TestListsAndDecisionsAgree(t *testing.T) {
	t.Parallel()
	cases, seed := 100_000, rand.Uint64()
	if s := os.Getenv("ATRIUM_DIFFERENTIAL_CASES"); s != "" {
		n, err := strconv.Atoi(s)
		require.NoError(t, err)
		cases = n
	}
	if s := os.Getenv("ATRIUM_DIFFERENTIAL_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		require.NoError(t, err)
		seed = n
	}
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		t.Logf("ATRIUM_DIFFERENTIAL_SEED=%d", seed)
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), teams: []string{"team_1", "prod"}}
		tables := g.seed(t, w)
		e := engine(t)
		mixed, lists := 0, 0 // number of lists that hide some rows and show others, and of all lists
		for seen, n := 0, 0; seen < cases; n++ {
			set, about, texts := g.set(t, e)
			caller := g.caller(w)
			ctx := principal.With(t.Context(), caller.Principal.WithRows(e.Rows(set, caller)))
			for _, table := range tables {
				if table.resource != about && g.IntN(8) > 0 {
					continue
				}
				q := authz.Question{Verb: "service.read", Action: "read", Resource: table.resource}
				want := []string{}
				for _, row := range table.rows {
					d, err := e.DecideRow(ctx, set, caller, q, row)
					require.NoError(t, err, texts)
					if d.Allow {
						want = append(want, row.ID)
					}
					if g.IntN(100) == 0 {
						allowed := meant(authz.Policies(set), caller, "read", row)
						require.Equal(t, allowed, d.Allow, "what README.md says, for %s %s by %v with\n%s", table.resource, row.ID, caller, texts)
					}
				}
				got, err := table.ids(ctx)
				require.NoError(t, err, texts)
				slices.Sort(got)
				require.Equal(t, want, append([]string{}, got...), "%s for %s of %v with\n%s", table.resource, caller.Principal.Role, caller, texts)
				seen += len(table.rows)
				lists++
				if 0 < len(want) && len(want) < len(table.rows) {
					mixed++
				}
				if n%8 == 0 {
					count, err := table.count(ctx)
					require.NoError(t, err, texts)
					require.Equal(t, len(want), count, texts)
				}
			}
		}
		require.Greater(t, mixed*10, lists, "%d of %d lists tell rows apart: the generator finds too little", mixed, lists)
	})
}

// table is a resource with its seeded rows, ordered by id.
type table struct {
	resource string
	rows     []authz.Row
	ids      func(context.Context) ([]string, error)
	count    func(context.Context) (int, error)
}

type generator struct {
	*rand.Rand
	teams []string
}

func pick[T any](g *generator, list ...T) T { return list[g.IntN(len(list))] }

// words are texts that are special in SQL, globs, JSON paths, Rego or Unicode, and prefixes of one another.
var words = []string{
	"prod", "Prod", "pro", "production", "", "a", "A", "aa", "ab", "a*b", "a?b", "a%b", "a_b", "a[b]", "[ab]", `a\b`, `a"b`, "a'b", "a.b",
	"$.a", "é", "e\u0301", "ß", "😀", "😀a", "\ue000", "日本", "a\nb", "'; DROP TABLE services; --", "${x", "input.resource", "<&>", "null", "true", "1", "10", "9",
}

// hot are the words that many rows have.
var hot = []string{"prod", "Prod", "a", "aa", "ab"}

// word returns a text for a row.
func (g *generator) word() string {
	if g.IntN(2) == 0 {
		return pick(g, hot...)
	}
	return pick(g, words...)
}

// tagKeys are keys of tags, including some that the APIs refuse.
var tagKeys = []string{"env", "a", "a.b", "a-b", "A", `a"b`, `a\b`, "a'b", "a b", "é", "😀", "$", "$.env", "0", "[0]", "*", "a<b", "'||1||'", "input"}

func (g *generator) tags() map[string]string {
	out := map[string]string{}
	for range g.IntN(4) {
		out[pick(g, tagKeys...)] = g.word()
	}
	if g.IntN(2) == 0 {
		out["env"] = g.word()
	}
	if g.IntN(8) == 0 {
		return nil
	}
	return out
}

// moment returns one of several times that differ by as little as a microsecond.
func (g *generator) moment() time.Time {
	return time.Date(2026, 1, 1, 12, 0, g.IntN(2), pick(g, 0, 1_000_000, 500_000_000, 123_456_000, 123_457_000), time.UTC)
}

// seed creates rows of several resources in company A.
func (g *generator) seed(t *testing.T, w *testkit.World) []table {
	t.Helper()
	const n = 40
	ctx := principal.System(context.Background(), "test")
	company := w.A.Company.ID
	err := w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		var teams []string
		for i := range 4 {
			team, err := tx.Team.Create().SetCompanyID(company).SetName(pick(g, words...)).SetSlug(fmt.Sprintf("team-%d", i)).Save(ctx)
			if err != nil {
				return err
			}
			teams = append(teams, team.ID)
			g.teams = append(g.teams, team.ID)
		}
		for i := range n {
			s, err := tx.Service.Create().SetCompanyID(company).SetName(g.word()).SetSlug(fmt.Sprintf("s-%d", i)).
				SetDescription(pick(g, words...)).SetStatus(pick[service.Status](g, "draft", "active", "archived")).SetTags(g.tags()).
				SetNillableOwnerTeamID(pick(g, nil, &teams[0], &teams[1])).SetCreatedAt(g.moment()).Save(ctx)
			if err != nil {
				return err
			}
			o := tx.Offering.Create().SetCompanyID(company).SetServiceID(s.ID).SetName(g.word()).SetSlug("o").SetTags(g.tags()).
				SetNillableResponseMinutes(pick(g, nil, new(1), new(9), new(10), new(1<<40))).SetCreatedAt(g.moment())
			if err := o.Exec(ctx); err != nil {
				return err
			}
			acc, err := tx.Account.Create().SetEmail(fmt.Sprintf("%d@x.test", i)).Save(ctx)
			if err != nil {
				return err
			}
			u, err := tx.User.Create().SetCompanyID(company).SetAccountID(acc.ID).SetEmail(acc.Email).SetName(g.word()).
				SetRole(pick[user.Role](g, "member", "agent", "admin")).SetAttributes(g.tags()).SetMfaEnabled(g.IntN(2) == 0).
				SetNillableLastSeenAt(pick(g, nil, new(g.moment()))).Save(ctx)
			if err != nil {
				return err
			}
			for _, team := range teams {
				if g.IntN(3) == 0 {
					if err := tx.TeamMember.Create().SetCompanyID(company).SetTeamID(team).SetUserID(u.ID).Exec(ctx); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
	require.NoError(t, err)
	db := w.Store.Reader()
	owner := w.As(w.A, principal.Owner)
	services, err := db.Service.Query().All(owner)
	require.NoError(t, err)
	offerings, err := db.Offering.Query().All(owner)
	require.NoError(t, err)
	users, err := db.User.Query().WithMemberships().All(owner)
	require.NoError(t, err)
	above := rowsOf(t, "Service", services, nil, func(ctx context.Context) ([]string, error) { return db.Service.Query().IDs(ctx) },
		func(ctx context.Context) (int, error) { return db.Service.Query().Count(ctx) })
	of := map[string]authz.Row{}
	for _, row := range above.rows {
		of[row.ID] = row
	}
	below := rowsOf(t, "Offering", offerings, nil, func(ctx context.Context) ([]string, error) { return db.Offering.Query().IDs(ctx) },
		func(ctx context.Context) (int, error) { return db.Offering.Query().Count(ctx) })
	for i, row := range below.rows {
		below.rows[i] = row.Below(of[row.Parents()[0].ID])
	}
	return []table{
		above, below,
		rowsOf(t, "User", users, func(u *ent.User) map[string][]string {
			ids := []string{}
			for _, m := range u.Edges.Memberships {
				ids = append(ids, m.TeamID)
			}
			return map[string][]string{"teamIds": ids}
		}, func(ctx context.Context) ([]string, error) { return db.User.Query().IDs(ctx) },
			func(ctx context.Context) (int, error) { return db.User.Query().Count(ctx) }),
	}
}

func rowsOf[E any](t *testing.T, resource string, entities []*E, lists func(*E) map[string][]string,
	ids func(context.Context) ([]string, error), count func(context.Context) (int, error),
) table {
	t.Helper()
	out := table{resource: resource}
	out.ids, out.count = ids, count
	for _, e := range entities {
		var l map[string][]string
		if lists != nil {
			l = lists(e)
		}
		row, ok := authz.RowOf(e, l)
		require.True(t, ok)
		out.rows = append(out.rows, row)
	}
	slices.SortFunc(out.rows, func(a, b authz.Row) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return out
}

func (g *generator) caller(w *testkit.World) *authz.Caller {
	role := pick(g, principal.Member, principal.Agent, principal.Admin, principal.Owner)
	u := w.A.Users[role]
	p := &principal.Principal{
		CompanyID: u.CompanyID, Type: pick(g, principal.TypeUser, principal.TypeServiceAccount), ID: u.ID, Role: role, Scopes: principal.AllScopes,
		Method: pick(g, principal.MethodSession, principal.MethodAPIKey, principal.MethodBearer),
	}
	if g.IntN(2) == 0 {
		p.IP = netip.MustParseAddr("10.0.0.1")
	}
	return &authz.Caller{Principal: p, TeamIDs: pick(g, []string{}, []string{"team_1"}, []string{"team_1", "prod"}, g.teams[1:4]), Attributes: g.tags(), Time: g.moment()}
}

// set returns a random set of policies that compile, most of them about reading one resource.
func (g *generator) set(t *testing.T, e *authz.Engine) (set *authz.Set, about, texts string) {
	t.Helper()
	var policies []*authz.Compiled
	about = pick(g, "Service", "Offering", "User")
	for range 1 + g.IntN(4) {
		condition := map[string]any{}
		resource := pick(g, about, about, about, "*")
		for range pick(g, 0, 1, 1, 1, 1, 2, 3) {
			path, value := g.entry(resource)
			condition[path] = value
		}
		raw, err := json.Marshal(condition)
		require.NoError(t, err)
		p := authz.Policy{
			ID: id.New("pol"), Version: 1, Effect: pick(g, authz.Allow, authz.Deny), Action: pick(g, "read", "read", "read", "*", "update"),
			Resource: resource, Condition: raw, Kept: true,
		}
		c, err := e.Compile(t.Context(), p)
		require.NoError(t, err, "%s", raw)
		policies = append(policies, c)
		texts += fmt.Sprintf("%s %s %s %s\n", p.Effect, p.Action, p.Resource, raw)
	}
	if g.IntN(2) == 0 {
		c, err := e.Compile(t.Context(), authz.Policy{ID: id.New("pol"), Effect: authz.Allow, Action: "*", Resource: "*", Condition: []byte("{}")})
		require.NoError(t, err)
		policies = append(policies, c)
	}
	return authz.NewSet(policies), about, texts
}

// entry returns an entry of a condition that fits the resource.
func (g *generator) entry(resource string) (string, any) {
	type attr struct{ path, kind string }
	attrs := []attr{{"resource.name", "text"}, {"resource.name", "text"}, {"resource.createdAt", "moment"}, {"resource.id", "text"}}
	if g.IntN(5) == 0 {
		attrs = []attr{{"principal.role", "text"}, {"principal.id", "text"}, {"principal.teamIds", "list"}, {"principal.attributes." + pick(g, tagKeys...), "text"},
			{"context.ip", "text"}, {"context.time", "moment"}, {"context.authMethod", "text"}}
	}
	switch resource {
	case "Service":
		attrs = append(attrs, attr{"resource.description", "text"}, attr{"resource.ownerTeamId", "text"}, attr{"resource.status", "text"})
	case "Offering":
		attrs = append(attrs, attr{"resource.sla.responseMinutes", "number"}, attr{"resource.sla.responseMinutes", "number"})
	case "User":
		attrs = append(attrs, attr{"resource.mfaEnabled", "bool"}, attr{"resource.teamIds", "list"}, attr{"resource.lastSeenAt", "moment"},
			attr{"resource.attributes." + pick(g, tagKeys...), "text"}, attr{"resource.role", "text"})
	default:
		attrs = append(attrs, attr{"resource.version", "number"}, attr{"resource.enabled", "bool"}, attr{"resource.status", "text"})
	}
	if resource != "User" {
		key := pick(g, tagKeys...)
		attrs = append(attrs, attr{"resource.tags." + key, "text"}, attr{"resource.tags.env", "text"}, attr{"resource.tags." + pick(g, tagKeys...), "text"})
	}
	a := pick(g, attrs...)
	value := func() any { return g.value(a.kind) }
	several := func() []any {
		out := []any{}
		for range g.IntN(12) {
			out = append(out, value())
		}
		return out
	}
	ops := []string{"eq", "ne", "in", "nin", "exists", "list", "scalar"}
	switch a.kind {
	case "text":
		ops = append(ops, "lt", "lte", "gt", "gte", "prefix", "glob", "glob", "prefix")
	case "number", "moment":
		ops = append(ops, "lt", "lte", "gt", "gte")
	}
	one := func(op string) any {
		switch op {
		case "in", "nin":
			if a.kind == "text" && g.IntN(6) == 0 {
				return "${principal.teamIds}"
			}
			return several()
		case "exists":
			return g.IntN(2) == 0
		case "glob":
			return g.glob()
		}
		return value()
	}
	switch op := pick(g, ops...); op {
	case "list":
		return a.path, several()
	case "scalar":
		return a.path, value()
	default:
		out := map[string]any{op: one(op)}
		if second := pick(g, ops...); second != "list" && second != "scalar" && g.IntN(4) == 0 {
			out[second] = one(second)
		}
		return a.path, out
	}
}

func (g *generator) value(kind string) any {
	switch kind {
	case "number":
		return pick[any](g, 1, 9, 10, 9.5, 1e2, -1, int64(1)<<40, 1e300, 0.1)
	case "bool":
		return g.IntN(2) == 0
	case "moment":
		if g.IntN(5) == 0 {
			return "${context.time}"
		}
		return g.moment().In(time.FixedZone("", pick(g, 0, 3600))).Format(time.RFC3339Nano)
	case "list":
		return pick(g, g.teams...)
	}
	for {
		s := pick(g, hot...)
		if g.IntN(2) == 0 {
			s = pick(g, append(words, "member", "agent", "active", "archived", "10.0.0.1", "session", "${principal.role}", "${principal.id}", "${principal.attributes.env}", "${principal.attributes.a.b}")...)
		}
		if s != "${x" {
			return s
		}
	}
}

// glob returns a pattern of words and wildcards.
func (g *generator) glob() string {
	out := ""
	for range 1 + g.IntN(3) {
		s := pick(g, slices.Concat(words, hot, []string{"*", "*", "?", "?", "**", "*?", "😀*", "*a*"})...)
		if s != "${x" {
			out += s
		}
	}
	return out
}
