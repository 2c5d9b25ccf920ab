package transfer_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/user"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/people/transfer"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/secret"
	"atrium/internal/test/testkit"
)

// file is an export of which single values are changed.
type file struct {
	t       *testing.T
	lines   []string
	columns map[string][]string
}

func fileOf(t *testing.T, w *testkit.World) file {
	t.Helper()
	f := file{t: t, lines: strings.SplitAfter(opened(t, export(t, w)), "\n")}
	f.columns = columnsOf(t, f.lines[0])
	return f
}

// columnsOf returns the columns that a file's header names.
func columnsOf(t *testing.T, header string) map[string][]string {
	t.Helper()
	var h struct{ Columns map[string][]string }
	require.NoError(t, json.Unmarshal([]byte(header), &h))
	return h.Columns
}

// with returns the file with another value in a column of the first row of a table that contains a text.
func (f file) with(table, containing, column string, value any) string {
	f.t.Helper()
	n := slices.IndexFunc(f.lines, func(l string) bool { return strings.HasPrefix(l, `["`+table+`"`) && strings.Contains(l, containing) })
	require.Positive(f.t, n, "%s with %s", table, containing)
	var row []json.RawMessage
	require.NoError(f.t, json.Unmarshal([]byte(f.lines[n]), &row))
	at := slices.Index(f.columns[table], column)
	require.GreaterOrEqual(f.t, at, 0, column)
	raw, err := json.Marshal(value)
	require.NoError(f.t, err)
	row[at+1] = raw
	line, err := json.Marshal(row)
	require.NoError(f.t, err)
	out := slices.Clone(f.lines)
	out[n] = string(line) + "\n"
	return strings.Join(out, "")
}

// Whoever exported a company may have changed the file. What the product would not have written, and what belongs to others, is
// refused by its line and column; nothing of the file stays.
func TestForgedRows(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, to *testkit.World) {
		from := testkit.SQLiteWorld(t)
		alone := from.AddUser(t, from.A, "alone@a.test", principal.Member)
		asked := asks(t, from)
		whole := fileOf(t, from)
		owner, member, sandbox := from.A.Users[principal.Owner], from.A.Users[principal.Member], sandboxOf(t, from)
		stranger := to.B.Users[principal.Owner]
		require.NoError(t, to.Store.Write(system(t), func(ctx context.Context, tx *store.Tx) error {
			return tx.BillingAccount.Update().SetCustomer("cus_other").SetPaymentMethod("pm_other").Exec(ctx)
		}))
		before := companies(t, to)
		for _, c := range []struct {
			table, containing, column string
			value                     any
			says                      string
		}{
			{"requests", asked.ID, "fields", `["a"]`, "fields of requests must be an object that names each answer once"},
			{"requests", asked.ID, "fields", `{"n":1,"n":2}`, "fields of requests must be an object that names each answer once"},
			{"requests", asked.ID, "fields", `{"` + strings.Repeat("k", 65) + `":1}`, "fields of requests a field's name is at most 64 characters long"},
			{"requests", asked.ID, "title", strings.Repeat("x", 301), "title of requests must have at most 300 characters"},
			{"comments", "", "body", strings.Repeat("x", 10_001), "body of comments must have at most 10000 characters"},
			{"users", member.ID, "role", "operator", "role of users must be one of: owner, admin, agent, member"},
			{"users", member.ID, "status", "root", "status of users must be one of"},
			{"users", member.ID, "name", strings.Repeat("x", 201), "name of users must have at most 200 characters"},
			{"users", member.ID, "name", "a\x00b", "name of users must be text without NUL"},
			{"users", member.ID, "id", "svc_1", "id of users must begin with usr_"},
			{"users", member.ID, "attributes", `["a"]`, "attributes of users has another shape"},
			{"users", member.ID, "attributes", `{`, "attributes of users must be JSON"},
			{"users", member.ID, "mfa_enabled", 2, "mfa_enabled of users must be true or false"},
			{"users", member.ID, "created_at", "yesterday", "created_at of users must be a time"},
			{"users", member.ID, "company_id", nil, "not the company's"},
			{"users", alone.ID, "email", "other@a.test", "email of the row " + alone.ID + " of users must be that of the account"},
			{"users", `"` + sandbox, "live_user_id", stranger.ID, "live_user_id of users must not be of another company"},
			{"users", `"` + sandbox, "live_user_id", member.ID, "must be the person's user in the company"},
			{"users", `"` + sandbox, "live_user_id", "usr_unknown", "must be the person's user in the company"},
			{"users", member.ID, "live_user_id", owner.ID, "must be the person's user in the company"},
			{"api_keys", "", "scopes", `["*"]`, "scopes of api_keys must name known scopes"},
			{"api_keys", "", "scopes", `["openid"]`, "scopes of api_keys must name known scopes"},
			{"api_keys", "", "allowed_ips", `["everywhere"]`, "allowed_ips of api_keys must be addresses"},
			{"api_keys", "", "user_id", "usr_unknown", "refers to a row that the file does not have|user_id of the row"},
			{"api_keys", "", "created_by", stranger.ID, "created_by of api_keys must not be of another company"},
			{"oauth_clients", "", "scopes", `["*"]`, "scopes of oauth_clients must name known scopes"},
			{"oauth_clients", "", "redirect_uris", `["http://evil.example/"]`, "redirectUris[0] of oauth_clients must be"},
			{"companies", from.A.Company.ID, "plan", "unlimited", "plan of companies must be one of"},
			{"companies", from.A.Company.ID, "session_lifetime_minutes", 99999999, "session_lifetime_minutes of companies must be at most"},
			{"companies", sandbox, "sandbox_of", nil, "not the company's"},
			{"companies", from.A.Company.ID, "sandbox_of", to.B.Company.ID, "not the company's"},
			{"billing_accounts", "", "balance", 1_000_000, "balance of the row"},
			{"billing_accounts", "", "balance", -1, "balance of billing_accounts must not be negative"},
			{"billing_accounts", "", "company_id", sandbox, "must be of a live company"},
			{"billing_accounts", "", "customer", "cus_other", "customer of billing_accounts is another company's here"},
			{"billing_accounts", "", "payment_method", "pm_other", "payment_method of billing_accounts is another company's here"},
			{"accounts", owner.Email, "password_hash", "$argon2id$v=19$m=4194304,t=1,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaA", "password_hash of accounts must be an argon2id hash"},
			{"accounts", member.Email, "email", owner.Email, "email of accounts must not be that of two accounts"},
		} {
			_, err := importer(to).Import(system(t), sealed(t, whole.with(c.table, c.containing, c.column, c.value)), passphrase)
			require.Error(t, err, "%s %v", c.column, c.value)
			one, other, _ := strings.Cut(c.says, "|")
			if other == "" || !strings.Contains(err.Error(), other) {
				require.Contains(t, err.Error(), one)
			}
			require.Equal(t, before, companies(t, to))
		}
	})
}

// asks files a request that somebody has declined, with a comment.
func asks(t *testing.T, w *testkit.World) *ent.Request {
	t.Helper()
	ctx := w.As(w.A, principal.Owner)
	service := testkit.Run(t, w, ctx, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
	offering := testkit.Run(t, w, ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: service.ID}, Name: "Laptop"})
	r := testkit.Run(t, w, ctx, request.Create, request.CreateInput{ServiceID: service.ID, OfferingID: offering.ID, Title: "A laptop", Fields: map[string]any{"model": "14 inch"}})
	testkit.Run(t, w, ctx, request.CreateComment, request.CreateCommentInput{ByID: op.ByID{ID: r.ID}, Body: "For Ana"})
	return testkit.Run(t, w, ctx, request.Decline, request.DeclineInput{ByID: op.ByID{ID: r.ID}, Reason: "We have none."})
}

// Plans, limits, money and secrets that may go anywhere are the operator's to give, and so are texts that break a rule which may be younger:
// the import says by name what a file asks for, and takes it when told so.
func TestWhatOnlyTheOperatorGives(t *testing.T) {
	t.Parallel()
	from := testkit.SQLiteWorld(t)
	asks(t, from)
	testkit.Run(t, from, from.As(from.A, principal.Owner), secret.CreateSecret, secret.CreateSecretInput{Name: "TOKEN", Value: "forty-two", AllowedHosts: []string{"erp.example"}})
	f := fileOf(t, from)
	for _, c := range []struct {
		table, column string
		value         any
		asks          string
	}{
		{"secrets", "allowed_hosts", nil, "allowed_hosts of secrets: any host, for TOKEN"},
		{"secrets", "allowed_hosts", `["erp.example", "*"]`, "allowed_hosts of secrets: any host, for TOKEN"},
		{"requests", "title", " \u00a0", "title of requests: must be"},
		{"requests", "description", strings.Repeat("x", 10_001), "description of requests: must have at most 10000 characters"},
		{"requests", "tags", `{"` + strings.Repeat("k", 101) + `":"v"}`, "tags of requests: "},
		{"requests", "decline_reason", strings.Repeat("x", 1001), "decline_reason of requests: must have at most 1000 characters"},
		{"comments", "body", "\u3000", "body of comments: must be"},
		{"companies", "plan", "enterprise", "plan: line 6: plan of companies: enterprise"},
		{"companies", "rate_per_day", 1_000_000, "rate_per_day of companies: 1000000"},
		{"billing_accounts", "customer", "cus_1", "customer of billing_accounts: cus_1"},
	} {
		to := testkit.SQLiteWorld(t)
		im := importer(to)
		im.Accept = nil
		forged := f.with(c.table, "", c.column, c.value)
		_, err := im.Import(system(t), sealed(t, forged), passphrase)
		var asked transfer.Asked
		require.ErrorAs(t, err, &asked)
		require.Contains(t, err.Error(), c.asks)
		require.Contains(t, err.Error(), "--accept ")
		require.Zero(t, to.Store.Reader().User.Query().Where(user.ID(from.A.Owner.ID)).CountX(system(t)))
		for name := range asked {
			im.Accept = append(im.Accept, name)
		}
		_, err = im.Import(system(t), sealed(t, forged), passphrase)
		require.NoError(t, err)
	}
}

// Whoever has an account here is invited: no file makes them a member, allows an application in their name, or says by whom they sign
// in.
func TestAccountsAreInvited(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, to *testkit.World) {
		from := testkit.SQLiteWorld(t)
		known, gone, alone := from.A.Users[principal.Member], from.A.Users[principal.Agent], from.AddUser(t, from.A, "alone@a.test", principal.Member)
		require.NoError(t, from.Store.Write(system(t), func(ctx context.Context, tx *store.Tx) error {
			for _, u := range []*ent.User{known, alone} {
				if err := tx.ExternalIdentity.Create().SetCompanyID(u.CompanyID).SetIssuer("https://issuer.test").SetSubject(u.ID).SetUserID(u.ID).Exec(ctx); err != nil {
					return err
				}
			}
			if err := tx.User.UpdateOneID(alone.ID).SetAcceptedAt(from.Clock.Now()).Exec(ctx); err != nil {
				return err
			}
			return tx.User.UpdateOneID(gone.ID).SetStatus(user.StatusDeactivated).Exec(ctx)
		}))
		im := importer(to)
		var mailed []string
		im.Invite = func(_ context.Context, _ *store.Tx, u *ent.User) error {
			mailed = append(mailed, u.ID)
			return nil
		}
		out, err := im.Import(system(t), export(t, from), passphrase)
		require.NoError(t, err)
		require.Len(t, mailed, out.Invited)
		require.Contains(t, mailed, known.ID)
		require.NotContains(t, mailed, gone.ID)
		db := to.Store.Reader()
		for id, want := range map[string]user.Status{known.ID: user.StatusInvited, gone.ID: user.StatusDeactivated, alone.ID: user.StatusActive} {
			u := db.User.GetX(system(t), id)
			require.Equal(t, want, u.Status)
			require.Equal(t, id == alone.ID, u.AcceptedAt != nil, "who comes back is asked as well")
		}
		require.Equal(t, []string{alone.ID}, db.ExternalIdentity.Query().Select("user_id").StringsX(system(t)))
	})
}
