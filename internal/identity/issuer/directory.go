package issuer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"atrium/ent"
	"atrium/ent/account"
	"atrium/ent/company"
	"atrium/ent/externalidentity"
	"atrium/ent/user"
	"atrium/internal/identity/access"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

// ErrNoMember is returned for a subject that is not an active member of a company: it has no user and may not get one, its user
// is deactivated, or nothing determines its company.
var ErrNoMember = errors.New("issuer: the subject is nobody here")

// provisionTimeout bounds the provisioning of one user, including the call of the issuer's userinfo endpoint.
const provisionTimeout = 15 * time.Second

// Directory maps subjects of an issuer to users. Safe for concurrent use.
type Directory struct {
	issuer         *Issuer
	engine         *op.Engine
	provisionGroup singleflight.Group // concurrent calls for the same subject provision it once

	mu      sync.Mutex
	unknown map[unknownSubject]refusal // subjects that were refused a short time ago
}

// unknownSubject is a subject without a user, with what its token and the request say about it.
type unknownSubject struct {
	subject, company, wish, email string
	verified                      bool
}

// refusal says how long a refusal is remembered: until a time, and only while no companies or members change (Store.Authority).
type refusal struct {
	until     time.Time
	authority uint64
}

const maxUnknown = 1000

// NewDirectory returns the directory of users from the issuer.
func NewDirectory(i *Issuer, e *op.Engine) *Directory {
	return &Directory{issuer: i, engine: e, unknown: map[unknownSubject]refusal{}}
}

// Issuer returns the issuer of the directory's subjects.
func (d *Directory) Issuer() *Issuer { return d.issuer }

// Find returns the user of the subject, in a live company. At the first sign-in it links the subject to the member with the
// subject's verified address; if the company allows it, it creates a member instead. At each sign-in it sets the user's role to
// the one in the token, if the token has one. wish is the company that the person asks for, as id or slug; it counts when
// neither token nor configuration names one. Returns ErrNoMember; ErrUnavailable when the issuer's answer is needed and it does
// not answer; ErrToken when the issuer's userinfo is about another subject.
func (d *Directory) Find(ctx context.Context, s *Subject, wish string) (*ent.User, error) {
	u, err := d.known(ctx, s, wish)
	if err != nil {
		return nil, err
	}
	switch settled, err := d.settled(ctx, s, u); {
	case err != nil:
		return nil, err
	case settled:
		return u, nil
	case u == nil && d.recentlyRefused(s, wish):
		return nil, fmt.Errorf("%w: so it was a moment ago", ErrNoMember)
	}
	found, err, _ := d.provisionGroup.Do(s.Subject+"\x00"+s.Company+"\x00"+wish+"\x00"+string(s.Role), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), provisionTimeout)
		defer cancel()
		return d.provision(ctx, s, u, wish)
	})
	if err != nil {
		if errors.Is(err, ErrNoMember) && u == nil {
			d.cacheRefusal(s, wish)
		}
		return nil, err
	}
	return found.(*ent.User), nil // what provision returns
}

// settled reports whether the user already matches the token, so that nothing has to be written. Returns ErrNoMember for a
// deactivated user.
func (d *Directory) settled(ctx context.Context, s *Subject, u *ent.User) (bool, error) {
	switch {
	case u == nil || u.Status == user.StatusInvited:
		return false, nil
	case access.Gone(u.Status):
		return false, fmt.Errorf("%w: deactivated", ErrNoMember)
	case s.Role == "" || user.Role(s.Role) == u.Role:
		return true, nil
	case u.Role != user.RoleOwner:
		return false, nil
	}
	others, err := d.engine.Store.Reader().User.Query().
		Where(user.CompanyID(u.CompanyID), user.RoleEQ(user.RoleOwner), user.StatusEQ(user.StatusActive), user.IDNEQ(u.ID)).Exist(d.system(ctx))
	if err != nil {
		return false, fmt.Errorf("look for other owners: %w", err)
	}
	return !others, nil // the last owner keeps the role, whatever the token says
}

// cacheRefusal remembers a refused subject for ten seconds, so that a client that keeps calling does not cause a call of the issuer
// each time.
func (d *Directory) cacheRefusal(s *Subject, wish string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.unknown) >= maxUnknown {
		clear(d.unknown)
	}
	authority, _ := d.engine.Store.Authority()
	d.unknown[unknownSubject{s.Subject, s.Company, wish, s.Email, s.EmailVerified}] = refusal{d.issuer.now().Add(retryAfter), authority}
}

func (d *Directory) recentlyRefused(s *Subject, wish string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.unknown[unknownSubject{s.Subject, s.Company, wish, s.Email, s.EmailVerified}]
	authority, heard := d.engine.Store.Authority()
	return heard && authority == r.authority && d.issuer.now().Before(r.until)
}

// system returns a context that reaches all companies.
func (d *Directory) system(ctx context.Context) context.Context {
	return principal.System(ctx, "a token of another issuer says which company it is for; before that there is none")
}

// known returns the user that the subject is linked to; nil when there is none yet.
func (d *Directory) known(ctx context.Context, s *Subject, wish string) (*ent.User, error) {
	ctx = d.system(ctx)
	q := d.engine.Store.Reader().ExternalIdentity.Query().
		Where(externalidentity.Issuer(s.Issuer), externalidentity.Subject(s.Subject)).WithUser().Limit(2)
	if name := either(s.Company, wish); name != "" {
		co, err := d.company(ctx, name)
		if err != nil {
			return nil, err
		}
		q.Where(externalidentity.CompanyID(co.ID))
	}
	ties, err := q.All(ctx)
	if err != nil {
		return nil, fmt.Errorf("look the subject up: %w", err)
	}
	switch len(ties) {
	case 0:
		return nil, nil // the subject's first sign-in
	case 1:
		return ties[0].Edges.User, nil
	}
	return nil, fmt.Errorf("%w: of several companies, and nothing says which", ErrNoMember)
}

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// CheckCompany returns an error when the configured company of all subjects is not there.
func (d *Directory) CheckCompany(ctx context.Context) error {
	if d.issuer.options.Company == "" {
		return nil
	}
	_, err := d.company(d.system(ctx), d.issuer.options.Company)
	if errors.Is(err, ErrNoMember) {
		return errors.New("no live company has this id or slug")
	}
	return err
}

// company returns a live company by id or slug. Returns ErrNoMember when it is not found.
func (d *Directory) company(ctx context.Context, name string) (*ent.Company, error) {
	co, err := d.engine.Store.Reader().Company.Query().
		Where(company.Or(company.ID(name), company.Slug(name)), company.SandboxOfIsNil()).Limit(1).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("look the company up: %w", err)
	}
	if len(co) == 0 {
		return nil, fmt.Errorf("%w: of a company that is not here", ErrNoMember)
	}
	return co[0], nil
}

// provision creates or links a user, or changes its role. If another node does the same at the same time, it returns the user
// that the other node wrote.
func (d *Directory) provision(ctx context.Context, s *Subject, known *ent.User, wish string) (*ent.User, error) {
	if known != nil {
		return d.runProvision(ctx, s, known.CompanyID)
	}
	u, err := d.provisionNew(ctx, s, wish)
	if errors.Is(err, ErrNoMember) || apperr.CodeOf(err) == apperr.Conflict {
		if late, lerr := d.known(ctx, s, wish); lerr == nil && late != nil && late.Status == user.StatusActive {
			return late, nil
		}
	}
	return u, err
}

// provisionNew provisions a subject that is linked to no user. All checks come before the first write, so refused calls leave no
// trace in the database.
func (d *Directory) provisionNew(ctx context.Context, s *Subject, wish string) (*ent.User, error) {
	complete := *s
	if err := d.issuer.complete(ctx, &complete); err != nil {
		return nil, err
	}
	co, err := d.resolveCompany(d.system(ctx), &complete, wish)
	if err != nil {
		return nil, err
	}
	return d.runProvision(ctx, &complete, co.ID)
}

// runProvision links or creates the user and sets its role. The actor in the audit log is the operator, who configured the issuer.
func (d *Directory) runProvision(ctx context.Context, s *Subject, companyID string) (*ent.User, error) {
	operator := principal.With(ctx, principal.Operator(companyID, "issuer "+s.Issuer))
	u, _, err := op.Run(operator, d.engine, people.Provision, people.ProvisionInput{
		Issuer: s.Issuer, Subject: s.Subject, Email: s.Email, EmailVerified: s.EmailVerified, Name: s.Name, Role: s.Role,
	}, nil)
	if err != nil && apperr.CodeOf(err) == apperr.Forbidden {
		return nil, fmt.Errorf("%w: %w", ErrNoMember, err)
	}
	if err != nil {
		return nil, fmt.Errorf("let the person in: %w", err)
	}
	return u, nil
}

// resolveCompany returns the company for a subject that is linked to no user. Returns ErrNoMember when the subject may not become a member
// there.
func (d *Directory) resolveCompany(ctx context.Context, s *Subject, wish string) (*ent.Company, error) {
	if name := either(s.Company, wish); name != "" {
		co, err := d.company(ctx, name)
		if err != nil {
			return nil, err
		}
		return co, d.checkProvisionable(ctx, s, co)
	}
	members, err := d.members(ctx, s)
	switch {
	case err != nil:
		return nil, err
	case len(members) == 1:
		return d.company(ctx, members[0].CompanyID)
	case len(members) > 1:
		return nil, fmt.Errorf("%w: of several companies, and nothing says which", ErrNoMember)
	}
	all, err := d.engine.Store.Reader().Company.Query().Where(company.SandboxOfIsNil()).Limit(2).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for the company: %w", err)
	}
	if len(all) != 1 {
		return nil, fmt.Errorf("%w: nothing says of which company", ErrNoMember)
	}
	return all[0], d.checkProvisionable(ctx, s, all[0])
}

// members returns the live users with the subject's verified address, at most two.
func (d *Directory) members(ctx context.Context, s *Subject) ([]*ent.User, error) {
	if s.Email == "" || !s.EmailVerified {
		return nil, nil
	}
	db := d.engine.Store.Reader()
	acc, err := db.Account.Query().Where(account.Email(s.Email)).OnlyID(ctx)
	if ent.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look the address up: %w", err)
	}
	users, err := db.User.Query().
		Where(user.AccountID(acc), user.LiveUserIDIsNil(), access.Here()).Limit(2).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("look the address up: %w", err)
	}
	return users, nil
}

// checkProvisionable returns ErrNoMember unless the subject can be linked to a member of the company or become a member.
func (d *Directory) checkProvisionable(ctx context.Context, s *Subject, co *ent.Company) error {
	if s.Email == "" {
		return fmt.Errorf("%w: the issuer does not say what the person's address is", ErrNoMember)
	}
	db := d.engine.Store.Reader()
	member, err := db.User.Query().Where(user.CompanyID(co.ID), user.Email(s.Email)).OnlyID(ctx)
	switch {
	case ent.IsNotFound(err):
		if !co.JitUsers {
			return fmt.Errorf("%w: no member of the company", ErrNoMember)
		}
	case err != nil:
		return fmt.Errorf("look the address up: %w", err)
	default:
		tied, err := db.ExternalIdentity.Query().
			Where(externalidentity.CompanyID(co.ID), externalidentity.Issuer(s.Issuer), externalidentity.UserID(member)).Exist(ctx)
		if err != nil {
			return fmt.Errorf("look the member up: %w", err)
		}
		if tied {
			return fmt.Errorf("%w: the address is a member's whom the issuer calls otherwise", ErrNoMember)
		}
	}
	if s.EmailVerified {
		return nil
	}
	taken, err := people.Taken(ctx, db, s.Email)
	if err != nil {
		return err
	}
	if member != "" || taken {
		return fmt.Errorf("%w: the address is somebody's, and the issuer has not verified it", ErrNoMember)
	}
	return nil
}
