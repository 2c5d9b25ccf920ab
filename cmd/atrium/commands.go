package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"atrium/ent"
	"atrium/ent/user"
	"atrium/internal/apperr"
	"atrium/internal/billing"
	"atrium/internal/company"
	"atrium/internal/identity"
	"atrium/internal/jobs"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/principal"
	"atrium/internal/store"
)

// version is set when a release is built.
var version = ""

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run() error {
	v := version
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	if v == "" {
		v = cmp.Or(info.Main.Version, "(devel)")
	}
	built := runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			built = "commit " + s.Value[:min(12, len(s.Value))] + ", " + built
		}
	}
	fmt.Printf("atrium %s (%s)\n", v, built)
	return nil
}

type migrateCmd struct{ dataFlags }

// Run migrates the database.
func (m *migrateCmd) Run(ctx context.Context) error {
	if err := m.prepare(); err != nil {
		return err
	}
	s, err := store.Open(ctx, store.Options{DataDir: m.Data, DatabaseURL: m.DatabaseURL})
	if err != nil {
		return err //nolint:wrapcheck // says what it was doing
	}
	names, err := s.Migrate(ctx)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	for _, n := range names {
		fmt.Println("applied " + n)
	}
	fmt.Println("the database is at this version")
	return s.Close() //nolint:wrapcheck // says what it was doing
}

// inCompany opens the core and runs fn as the operator within a company.
func (f dataFlags) inCompany(ctx context.Context, companyID, command string, fn func(context.Context, *core) error) (err error) {
	if !strings.HasPrefix(companyID, "co_") { // such an id is no company's, and must not reach row-level security
		return fmt.Errorf("--company: there is no live company %q", companyID)
	}
	c, err := f.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	ctx = principal.With(ctx, principal.Operator(companyID, command))
	co, err := c.store.Reader().Company.Get(ctx, companyID)
	if ent.IsNotFound(err) || err == nil && co.SandboxOf != nil {
		return fmt.Errorf("--company: there is no live company %q", companyID)
	}
	if err != nil {
		return fmt.Errorf("look the company up: %w", err)
	}
	closeQueue, err := c.queueMails(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeQueue()) }()
	return fn(ctx, c)
}

// queueMails lets a command's operations leave mails and jobs for the server to work.
func (c *core) queueMails(ctx context.Context) (closeQueue func() error, err error) {
	_, authURL, err := c.addresses(ctx)
	if err != nil {
		return nil, err
	}
	queue, err := jobs.New(c.store, c.log, false)
	if err != nil {
		return nil, err //nolint:wrapcheck // says what it was doing
	}
	c.addMail(authURL)
	c.outbox.Use(queue)
	return queue.Close, nil
}

// userByEmail returns the company's user with the e-mail address; with an empty one, its first owner.
func userByEmail(ctx context.Context, c *core, email string) (*ent.User, error) {
	q := c.store.Reader().User.Query()
	if email != "" {
		q = q.Where(user.Email(strings.ToLower(email)))
	} else {
		q = q.Where(user.RoleEQ(user.RoleOwner), user.StatusNEQ(user.StatusDeactivated)).Order(user.ByCreatedAt(), user.ByID())
	}
	u, err := q.First(ctx)
	if ent.IsNotFound(err) {
		return nil, apperr.InvalidField("user", "is no user of this company")
	}
	if err != nil {
		return nil, fmt.Errorf("look the user up: %w", err)
	}
	return u, nil
}

// jsonFlag chooses the output for programs.
type jsonFlag struct {
	JSON bool `help:"Print JSON."`
}

// print writes v as JSON, or the lines for people.
func (j jsonFlag) print(v any, lines ...string) error {
	if !j.JSON {
		_, err := fmt.Println(strings.Join(lines, "\n"))
		return err //nolint:wrapcheck // a closed terminal
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(v) //nolint:wrapcheck // a closed terminal
}

type companyCreateCmd struct {
	dataFlags
	jsonFlag
	Name       string `required:"" help:"The company's name."`
	Plan       string `required:"" enum:"free,pro,starter,growth,business,enterprise" help:"free, pro, starter, growth, business or enterprise."`
	OwnerEmail string `required:"" help:"E-mail address of the first owner."`
}

// Run makes a company.
func (m *companyCreateCmd) Run(ctx context.Context) (err error) {
	c, err := m.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	made, err := company.Create(ctx, c.store, company.CreateInput{Name: m.Name, Plan: m.Plan, OwnerEmail: m.OwnerEmail, RedirectURI: demoRedirect})
	if err != nil {
		return err //nolint:wrapcheck // says what it was doing
	}
	first, err := c.firstRun(ctx, made)
	if err != nil {
		return err
	}
	return m.print(first,
		"company   "+first.Company.ID, "sandbox   "+first.Company.SandboxID, "owner     "+first.Owner.Email, "password  "+first.Owner.Password,
		"live key  "+first.LiveKey, "test key  "+first.TestKey, "client    "+first.OAuthClient.ClientID,
		"The password and the keys are shown this once.")
}

type companyLimitsCmd struct {
	dataFlags
	jsonFlag
	Company   string `required:"" help:"The live company's id (co_…)."`
	PerMinute *int   `help:"Calls a minute and key; 0 goes back to the plan's. Stays as it is when not given."`
	PerDay    *int   `help:"Calls a day and key; 0 goes back to the plan's. Stays as it is when not given."`
	QueryCost *int   `help:"What one GraphQL operation may cost, 20000 to 200000; 0 goes back to the plan's. Stays as it is when not given."`
}

// Run sets a company's own limits.
func (m *companyLimitsCmd) Run(ctx context.Context) error {
	return m.inCompany(ctx, m.Company, "company limits", func(ctx context.Context, c *core) error {
		in := company.LimitsInput{
			ByID: op.ByID{ID: m.Company}, PerMinute: orNull(m.PerMinute), PerDay: orNull(m.PerDay), QueryCost: orNull(m.QueryCost),
		}
		co, _, err := op.Run(ctx, c.engine, company.SetLimits, in, nil)
		if err != nil {
			return err //nolint:wrapcheck // the operation's own words
		}
		time.Sleep(store.Propagation) // when this returns, every server knows
		return m.print(map[string]any{"company": map[string]any{
			"id": co.ID, "perMinute": co.RatePerMinute, "perDay": co.RatePerDay, "queryCost": co.QueryCost,
		}}, "calls a minute  "+ownOr(co.RatePerMinute), "calls a day     "+ownOr(co.RatePerDay), "query cost      "+ownOr(co.QueryCost))
	})
}

// ownOr writes a company's own limit.
func ownOr(n *int) string {
	if n == nil {
		return "as the plan says"
	}
	return strconv.Itoa(*n)
}

// orNull turns 0 into null, and nothing into no change.
func orNull(n *int) op.Patch[int] {
	if n == nil {
		return op.Patch[int]{}
	}
	if *n == 0 {
		var p op.Patch[int]
		_ = p.UnmarshalJSON([]byte("null"))
		return p
	}
	return op.SetTo(*n)
}

type userInviteCmd struct {
	dataFlags
	jsonFlag
	Company string `required:"" help:"The live company's id (co_…)."`
	Email   string `required:"" help:"The person's e-mail address."`
	Role    string `required:"" enum:"owner,admin,agent,member" help:"owner, admin, agent or member."`
	Name    string `help:"The person's name (default: made from the e-mail address)."`
}

// Run invites a person.
func (m *userInviteCmd) Run(ctx context.Context) error {
	return m.inCompany(ctx, m.Company, "user invite", func(ctx context.Context, c *core) error {
		in := people.InviteUserInput{Email: m.Email, Role: &m.Role}
		if m.Name != "" {
			in.Name = &m.Name
		}
		u, _, err := op.Run(ctx, c.engine, people.InviteUser, in, nil)
		if err != nil {
			return err //nolint:wrapcheck // the operation's own words
		}
		return m.print(map[string]any{"user": map[string]any{
			"id": u.ID, "email": u.Email, "name": u.Name, "role": u.Role, "status": u.Status,
		}}, "user  "+u.ID)
	})
}

type clientCreateCmd struct {
	dataFlags
	jsonFlag
	Company      string   `required:"" help:"The live company's id (co_…)."`
	Name         string   `required:"" help:"The application's name, as people see it."`
	RedirectURI  []string `required:"" sep:"none" help:"Where codes are sent; may be given several times."`
	Scopes       []string `help:"What tokens may ask for (default: every scope)."`
	Confidential bool     `help:"The application can keep a secret."`

	PostLogoutRedirectURI []string `sep:"none" help:"Where people may be sent after signing out; may be given several times."`
	BackchannelLogoutURI  string   `help:"Where the application is told that a person has signed out."`
}

// Run registers a client.
func (m *clientCreateCmd) Run(ctx context.Context) error {
	return m.inCompany(ctx, m.Company, "client create", func(ctx context.Context, c *core) error {
		made, _, err := op.Run(ctx, c.engine, identity.CreateClient, identity.CreateClientInput{
			Name: m.Name, RedirectURIs: m.RedirectURI, Scopes: m.Scopes, Confidential: &m.Confidential,
			PostLogoutRedirectURIs: m.PostLogoutRedirectURI, BackchannelLogoutURI: &m.BackchannelLogoutURI,
		}, nil)
		if err != nil {
			return err //nolint:wrapcheck // the operation's own words
		}
		var secret *string
		lines := []string{"client  " + made.ID}
		if made.Secret != "" {
			secret = &made.Secret
			lines = append(lines, "secret  "+made.Secret, "The secret is shown this once.")
		}
		return m.print(map[string]any{"oauthClient": map[string]any{
			"clientId": made.ID, "redirectUris": made.Client.RedirectUris, "scopes": made.Client.Scopes,
		}, "clientSecret": secret}, lines...)
	})
}

type tokenCreateCmd struct {
	dataFlags
	jsonFlag
	Company string        `required:"" help:"The live company's id (co_…)."`
	User    string        `required:"" help:"E-mail address of the person that the token speaks for."`
	Scopes  []string      `help:"The token's scopes (default: every scope of the API)."`
	TTL     time.Duration `default:"1h" help:"How long it is valid: 1s to 8760h."`
}

// maxTTL bounds an operator's token: a year.
const maxTTL = 8760 * time.Hour

// Run issues a token.
func (m *tokenCreateCmd) Run(ctx context.Context) error {
	if m.TTL < time.Second || m.TTL > maxTTL { // a token's times are whole seconds
		return apperr.InvalidField("ttl", "must be 1s to 8760h")
	}
	if len(m.Scopes) == 0 {
		m.Scopes = principal.ScopeNames
	}
	return m.inCompany(ctx, m.Company, "token create", func(ctx context.Context, c *core) error {
		u, err := userByEmail(ctx, c, m.User)
		if err != nil {
			return err
		}
		baseURL, authURL, err := c.addresses(ctx)
		if err != nil {
			return err
		}
		if _, _, err := op.Run(ctx, c.engine, identity.GrantToken, identity.GrantTokenInput{ByID: op.ByID{ID: u.ID}, Scopes: m.Scopes}, nil); err != nil {
			return err //nolint:wrapcheck // the operation's own words
		}
		token, expires, err := c.tokens(baseURL, authURL).Issue(ctx, u.ID, m.Company, identity.OperatorClient, m.Scopes, m.TTL)
		if err != nil {
			return err //nolint:wrapcheck // says what it was doing
		}
		return m.print(map[string]any{"accessToken": token, "expiresAt": expires.UTC().Format(op.TimeFormat)}, token)
	})
}

type creditIssueCmd struct {
	dataFlags
	jsonFlag
	Company     string `required:"" help:"The live company's id (co_…)."`
	Amount      int64  `required:"" help:"Cents."`
	Reason      string `required:"" enum:"promotion,disruption,adjustment,enterprise" help:"promotion, disruption, adjustment or enterprise."`
	Description string `required:"" help:"What the company reads in its history."`
}

// Run issues credit.
func (m *creditIssueCmd) Run(ctx context.Context) error {
	return m.inCompany(ctx, m.Company, "credit issue", func(ctx context.Context, c *core) error {
		e, _, err := op.Run(ctx, c.engine, billing.IssueCredit, billing.IssueCreditInput{
			Amount: m.Amount, Reason: m.Reason, Description: m.Description,
		}, nil)
		if err != nil {
			return err //nolint:wrapcheck // the operation's own words
		}
		return m.print(map[string]any{"creditEntry": map[string]any{
			"id": e.ID, "type": e.Type, "amount": e.Amount, "description": e.Description, "date": e.CreatedAt.UTC().Format(op.TimeFormat),
		}}, fmt.Sprintf("issued %d cents: %s", e.Amount, e.ID))
	})
}
