package company

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"atrium/ent"
	"atrium/ent/accesspolicy"
	"atrium/ent/account"
	"atrium/ent/auditentry"
	"atrium/ent/company"
	"atrium/internal/billing"
	"atrium/internal/identity/apikey"
	"atrium/internal/identity/password"
	"atrium/internal/op"
	"atrium/internal/op/audit"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/id"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/platform/text"
)

// CreateInput describes a new company.
type CreateInput struct {
	Name        string
	Plan        string // free pro starter growth business enterprise
	OwnerEmail  string
	OwnerName   string // the local part of the e-mail address when empty
	RedirectURI string // of the company's first OAuth client

	// Hasher hashes the generated password of a new account. nil creates one, as for commands, which have no other.
	Hasher *password.Hasher

	// SignUp is set when the owner signs up on the web, and nil when the operator creates the company.
	SignUp *SignUp

	// Within runs last in the transaction that creates the company; its error rolls everything back. nil for nothing.
	Within func(context.Context, *store.Tx, *Created) error
}

// SignUp holds what is different when the owner signs up: Create makes no keys and no client, because nobody would see their
// secrets, and the audit entry names the owner.
type SignUp struct {
	PasswordHash  string // of the owner's account, unless it has a password
	Locale        string // the language of the company; empty for none
	IP, UserAgent string // as audit entries show them
	RequestID     string
}

// Created is a new company with everything that its owner needs to begin. Its secrets cannot be read again later.
type Created struct {
	Company  *ent.Company
	Sandbox  *ent.Company
	Owner    *ent.User
	Password string // empty after a sign-up, and when the owner's account existed and kept its password
	LiveKey  string
	TestKey  string
	Client   *ent.OAuthClient
}

// Create makes a company, its sandbox, its owner (and the owner's account unless it exists), a live and a test key with all
// scopes, and an OAuth client, in one transaction. After a sign-up it makes no keys and no client. Returns validation_error for
// an invalid name, plan or e-mail, and conflict when another company of the name is created at the same moment.
func Create(ctx context.Context, s *store.Store, in CreateInput) (*Created, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	plain, hash, err := in.password(ctx) // before the transaction, because hashing is slow
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
		return nil, apperr.Wrap(err, apperr.Conflict, "Another company was created at the same moment. Try again.")
	}
	if err != nil {
		return nil, fmt.Errorf("create the company: %w", err)
	}
	return out, nil
}

// password returns the password of a new account and its hash. The password is empty when the owner chose it.
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
	if text.Blank(in.Name) || utf8.RuneCountInString(in.Name) > 200 {
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

// builder inserts the rows of a new company, one kind after another.
type builder struct {
	db  *ent.Client
	in  CreateInput
	out *Created
}

func (b *builder) companies(ctx context.Context) error {
	slug, err := FreeSlug(ctx, b.db, text.Slug(b.in.Name, "company"))
	if err != nil {
		return err
	}
	plan := company.Plan(b.in.Plan)
	var lang *string
	if b.in.SignUp != nil && b.in.SignUp.Locale != "" {
		lang = &b.in.SignUp.Locale
	}
	b.out.Company, err = b.db.Company.Create().SetName(b.in.Name).SetSlug(slug).SetPlan(plan).SetNillableLocale(lang).Save(ctx)
	if err != nil {
		return fmt.Errorf("make the company: %w", err)
	}
	b.out.Sandbox, err = b.db.Company.Create().SetName(sandboxName(b.in.Name)).SetSlug(strings.ReplaceAll(id.New("sandbox"), "_", "-")).
		SetPlan(plan).SetSandboxOf(b.out.Company.ID).SetNillableLocale(lang).Save(ctx)
	if err != nil {
		return fmt.Errorf("make the sandbox: %w", err)
	}
	return nil
}

// sandboxName returns the name of a company's sandbox: the company's, cut so that both fit into 200 characters, and a suffix.
func sandboxName(name string) string {
	const suffix = " (sandbox)"
	runes := []rune(name)
	return string(runes[:min(len(runes), 200-len(suffix))]) + suffix
}

// FreeSlug returns slug, or slug with the first number appended that makes it unique among companies: slug-2, slug-3, ….
func FreeSlug(ctx context.Context, db *ent.Client, slug string) (string, error) {
	for n := 1; ; n++ {
		try := slug
		if n > 1 {
			try = text.NumberedSlug(slug, n)
		}
		taken, err := db.Company.Query().Where(company.Slug(try)).Exist(ctx)
		if err != nil {
			return "", fmt.Errorf("look the slug up: %w", err)
		}
		if !taken {
			return try, nil
		}
	}
}

// owner creates the owner in both companies.
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

// policies creates in both companies the policy that leaves decisions to scopes and roles.
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

// billing opens the live company's billing account, with the first invoice of its plan.
func (b *builder) billing(ctx context.Context) error {
	ctx = principal.With(ctx, principal.Worker(b.out.Company.ID, "billing"))
	return billing.Open(ctx, b.db, b.out.Company, clock.From(ctx).Now())
}

// account finds or creates the owner's account. An account with a password keeps it. An account without one gets the password
// that the owner chose at the sign-up, or the generated one if nobody has proven to own its address.
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
	if err == nil && acc.UnprovenSince != nil {
		err = people.Unproven()
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
