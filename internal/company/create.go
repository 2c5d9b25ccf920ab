package company

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"atrium/ent"
	"atrium/ent/accesspolicy"
	"atrium/ent/account"
	"atrium/ent/auditentry"
	"atrium/ent/company"
	"atrium/internal/apikey"
	"atrium/internal/apperr"
	"atrium/internal/audit"
	"atrium/internal/billing"
	"atrium/internal/clock"
	"atrium/internal/id"
	"atrium/internal/identity/password"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/principal"
	"atrium/internal/store"
	"atrium/internal/text"
)

// CreateInput describes a new company.
type CreateInput struct {
	Name        string
	Plan        string // free pro starter growth business enterprise
	OwnerEmail  string
	OwnerName   string // made from the e-mail when empty
	RedirectURI string // of the company's first OAuth client

	// Hasher hashes the password that is made for a new account; nil for one of its own, as commands have no other.
	Hasher *password.Hasher

	// SignUp is set when the owner opens the company at the sign-up pages, nil when the operator makes it.
	SignUp *SignUp

	// Within runs last in the transaction that makes the company; its error undoes all. nil for nothing.
	Within func(context.Context, *store.Tx, *Created) error
}

// SignUp is what a company that its owner opens differs in: no key and no client is made, as nobody would see their
// secrets, and the audit entry names the owner.
type SignUp struct {
	PasswordHash  string // of the owner's account, unless that has a password
	IP, UserAgent string // as audit entries show them
	RequestID     string
}

// Created is a new company with everything that its owner needs to begin. The secrets in it are shown this once.
type Created struct {
	Company  *ent.Company
	Sandbox  *ent.Company
	Owner    *ent.User
	Password string // empty when the owner's account existed before, and after a sign-up
	LiveKey  string
	TestKey  string
	Client   *ent.OAuthClient
}

// Create makes a company, its sandbox, its owner (and the owner's account when there is none), a live and a test key
// with all scopes, and an OAuth client, in one transaction. Returns validation_error for a faulty name, plan or e-mail.
func Create(ctx context.Context, s *store.Store, in CreateInput) (*Created, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	plain, hash, err := in.password(ctx) // before the transaction: it takes its time
	if err != nil {
		return nil, err
	}
	ctx = principal.System(ctx, "a company that is being made has nobody yet who could act in it")
	var out *Created
	err = s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		out = &Created{}
		b := &builder{db: tx.Client, in: in, out: out}
		steps := []func(context.Context) error{b.companies, func(ctx context.Context) error { return b.owner(ctx, plain, hash) }, b.policies, b.billing}
		if in.SignUp == nil {
			steps = append(steps, b.keys, b.client)
		}
		for _, step := range append(steps, b.audit) {
			if err := step(ctx); err != nil {
				return err
			}
		}
		tx.AuthorityChanged()
		if in.Within != nil {
			return in.Within(ctx, tx, out)
		}
		return nil
	})
	if store.IsUnique(err) {
		return nil, apperr.Wrap(err, apperr.Conflict, "Another company was made at the same moment. Try again.")
	}
	if err != nil {
		return nil, fmt.Errorf("create the company: %w", err)
	}
	return out, nil
}

// password returns the password that a new account gets, and its hash; the first is empty when its owner chose it.
func (in *CreateInput) password(ctx context.Context) (plain, hash string, err error) {
	if in.SignUp != nil {
		return "", in.SignUp.PasswordHash, nil
	}
	if in.Hasher == nil {
		in.Hasher = password.New(password.Options{})
	}
	plain = rand.Text()
	hash, err = in.Hasher.Hash(ctx, plain)
	return plain, hash, err
}

func (in *CreateInput) check() error {
	var refs op.Refs
	in.Name = strings.TrimSpace(in.Name)
	if in.Name == "" || len(in.Name) > 200 {
		refs.Fault("name", "must have 1 to 200 characters")
	}
	if plans := billing.PlanNames(); !slices.Contains(plans, in.Plan) {
		refs.Fault("plan", "must be one of: "+strings.Join(plans, ", "))
	}
	var ok bool
	if in.OwnerEmail, ok = text.Email(strings.TrimSpace(in.OwnerEmail)); !ok {
		refs.Fault("ownerEmail", "must be an e-mail address")
	}
	if in.OwnerName == "" {
		in.OwnerName, _, _ = strings.Cut(in.OwnerEmail, "@")
	}
	return refs.Err()
}

// builder makes a company's rows, one kind after the other.
type builder struct {
	db  *ent.Client
	in  CreateInput
	out *Created
}

func (b *builder) companies(ctx context.Context) error {
	slug, err := b.freeSlug(ctx, text.Slug(b.in.Name, "company"))
	if err != nil {
		return err
	}
	plan := company.Plan(b.in.Plan)
	if b.out.Company, err = b.db.Company.Create().SetName(b.in.Name).SetSlug(slug).SetPlan(plan).Save(ctx); err != nil {
		return fmt.Errorf("make the company: %w", err)
	}
	b.out.Sandbox, err = b.db.Company.Create().SetName(sandboxName(b.in.Name)).SetSlug(strings.ReplaceAll(id.New("sandbox"), "_", "-")).
		SetPlan(plan).SetSandboxOf(b.out.Company.ID).Save(ctx)
	if err != nil {
		return fmt.Errorf("make the sandbox: %w", err)
	}
	return nil
}

// sandboxName returns the name of the sandbox of a company of that name.
func sandboxName(name string) string {
	const suffix = " (sandbox)"
	runes := []rune(name)
	return string(runes[:min(len(runes), 200-len(suffix))]) + suffix
}

// freeSlug returns slug, or slug with the first number behind it that is free.
func (b *builder) freeSlug(ctx context.Context, slug string) (string, error) {
	for n := 1; ; n++ {
		try := slug
		if n > 1 {
			try = fmt.Sprintf("%.50s-%d", slug, n)
		}
		taken, err := b.db.Company.Query().Where(company.Slug(try)).Exist(ctx)
		if err != nil {
			return "", fmt.Errorf("look the slug up: %w", err)
		}
		if !taken {
			return try, nil
		}
	}
}

// owner makes the owner of both companies.
func (b *builder) owner(ctx context.Context, plain, hash string) error {
	acc, err := b.account(ctx, plain, hash)
	if err != nil {
		return fmt.Errorf("make the owner's account: %w", err)
	}
	member := func(companyID string) *ent.UserCreate {
		return b.db.User.Create().SetCompanyID(companyID).SetAccountID(acc.ID).SetEmail(acc.Email).SetName(b.in.OwnerName).SetRole("owner").
			SetAcceptedAt(clock.From(ctx).Now())
	}
	if b.out.Owner, err = member(b.out.Company.ID).Save(ctx); err != nil {
		return fmt.Errorf("make the owner: %w", err)
	}
	if err := member(b.out.Sandbox.ID).SetLiveUserID(b.out.Owner.ID).Exec(ctx); err != nil {
		return fmt.Errorf("make the owner in the sandbox: %w", err)
	}
	return nil
}

// policies gives both companies the policy under which scopes and roles alone decide.
func (b *builder) policies(ctx context.Context) error {
	for _, co := range []*ent.Company{b.out.Company, b.out.Sandbox} {
		err := b.db.AccessPolicy.Create().SetCompanyID(co.ID).SetName("Allow everything").
			SetDescription("Scopes and roles decide, as long as no other policy denies.").
			SetEffect(accesspolicy.EffectAllow).SetAction("*").SetResource("*").SetCondition(json.RawMessage(`{}`)).
			SetCreatedBy("system").Exec(ctx)
		if err != nil {
			return fmt.Errorf("make the first access policy: %w", err)
		}
	}
	return nil
}

// billing opens the live company's account, with the first invoice of its plan.
func (b *builder) billing(ctx context.Context) error {
	ctx = principal.With(ctx, principal.Worker(b.out.Company.ID, "billing"))
	return billing.Open(ctx, b.db, b.out.Company, clock.From(ctx).Now())
}

// account finds or makes the owner's account. One that somebody has keeps its password. One that has none gets the password
// that its owner chose, and one that invitations alone have made is as good as none.
func (b *builder) account(ctx context.Context, plain, hash string) (*ent.Account, error) {
	acc, err := b.db.Account.Query().Where(account.Email(b.in.OwnerEmail)).Only(ctx)
	if ent.IsNotFound(err) {
		b.out.Password = plain
		c := b.db.Account.Create().SetEmail(b.in.OwnerEmail)
		if hash != "" {
			c.SetPasswordHash(hash)
		}
		return c.Save(ctx)
	}
	if err != nil || acc.PasswordHash != "" || hash == "" {
		return acc, err
	}
	if b.in.SignUp == nil {
		if proven, err := people.Proven(ctx, b.db, acc); err != nil || proven {
			return acc, err
		}
		b.out.Password = plain
	}
	return acc.Update().SetPasswordHash(hash).SetPasswordChangedAt(clock.From(ctx).Now()).Save(ctx)
}

func (b *builder) keys(ctx context.Context) error {
	for _, k := range []struct {
		name  string
		test  bool
		value *string
	}{{"First live key", false, &b.out.LiveKey}, {"First test key", true, &b.out.TestKey}} {
		key, err := apikey.Issue(ctx, b.db, func(c *ent.APIKeyCreate) *ent.APIKeyCreate {
			return c.SetCompanyID(b.out.Company.ID).SetName(k.name).SetScopes(principal.ScopeNames).
				SetUserID(b.out.Owner.ID).SetCreatedBy(b.out.Owner.ID)
		}, k.test)
		if err != nil {
			return err
		}
		*k.value = key.Value
	}
	return nil
}

func (b *builder) client(ctx context.Context) error {
	var err error
	b.out.Client, err = b.db.OAuthClient.Create().SetCompanyID(b.out.Company.ID).SetName("First application").
		SetRedirectUris([]string{b.in.RedirectURI}).SetScopes(principal.ScopeNames).SetCreatedBy(b.out.Owner.ID).Save(ctx)
	if err != nil {
		return fmt.Errorf("make the OAuth client: %w", err)
	}
	return nil
}

func (b *builder) audit(ctx context.Context) error {
	by, from := principal.Operator(b.out.Company.ID, "company create").Actor(), SignUp{}
	if b.in.SignUp != nil {
		by = principal.Actor{Type: string(principal.TypeUser), ID: b.out.Owner.ID, Name: b.out.Owner.Name}
		from = *b.in.SignUp
	}
	return audit.Write(ctx, b.db, audit.Entry{
		CompanyID: b.out.Company.ID, Actor: by, Action: "company.created", Resource: "Company", ResourceID: b.out.Company.ID,
		Outcome: auditentry.OutcomeAllowed, Origin: audit.Origin{IP: from.IP, UserAgent: from.UserAgent, RequestID: from.RequestID},
	})
}
