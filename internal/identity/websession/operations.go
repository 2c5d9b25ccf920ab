package websession

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/company"
	"atrium/ent/session"
	"atrium/ent/user"
	"atrium/internal/identity/access"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

var sorts = op.Sorts{"createdAt": session.FieldCreatedAt, "lastSeenAt": session.FieldLastSeenAt}

// The operations on web sessions. People list and end their own sessions, admins everybody's.
var (
	List = op.New("session.list", op.Spec{
		Resource: "Session", Action: op.Read, AdminLayer: true, Sorts: sorts, Summary: "List the web sessions that a person has open",
	}, list)

	End = op.OnRow("session.end", op.Spec{
		Resource: "Session", Action: op.Update, AdminLayer: true, Summary: "End a web session, and the sign-in that it came from",
	}, load, end).WithRowVerbs(func(row any, _ op.ByID) []string { return ofOwner(row) })

	EndAll = op.OnRow("session.end_all", op.Spec{
		Resource: "Session", Action: op.Update, AdminLayer: true, LiveOnly: true, Past: map[string]string{"session.end_all": "session.ended_all"},
		Summary: "Sign a person out everywhere: all sessions, and the tokens of all applications",
	}, loadUser, endAll).WithRowVerbs(func(row any, _ EndAllInput) []string { return ofOwner(row) })

	Switch = op.New("session.switch", op.Spec{
		Resource: "Session", Action: op.Update, AdminLayer: true, Summary: "Go over to the sandbox, or back to the live company",
	}, change)

	// create is run by the callback. The actor is the person who has signed in.
	create = op.New("session.create", op.Spec{
		Resource: "Session", Action: op.Create, AdminLayer: true, Summary: "Begin a web session",
	}, open)
)

// ListInput selects the person whose sessions are listed.
type ListInput struct {
	paging.Page
	UserID string `json:"-" query:"userId" maxLength:"64" doc:"Whose sessions; the caller's own when not given."`
}

// list returns the open sessions, newest first. A caller with access only to own rows finds no sessions of other people. In a
// sandbox the list is empty, because sessions belong to the live company.
func list(ctx context.Context, tx *op.Tx, in ListInput) (paging.List[*ent.Session], error) {
	p := tx.Principal()
	whose := in.UserID
	if whose == "" {
		whose = p.ID
	}
	q := tx.Session.Query().Where(session.UserID(whose), session.EndedAtIsNil(), session.ExpiresAtGT(tx.Now(ctx)))
	if tx.OwnOnly() {
		q.Where(session.UserID(p.ID))
	}
	return paging.Of(ctx, in.Page, sorts, q)
}

// owned is a session with the field CreatedBy, by which rights on own rows are decided.
type owned struct {
	*ent.Session
	CreatedBy string
	role      user.Role
}

// ofOwner returns the additional right that is needed to end sessions of an owner.
func ofOwner(row any) []string {
	role := user.RoleMember
	switch row := row.(type) {
	case owned:
		role = row.role
	case person:
		role = row.Role
	}
	if role == user.RoleOwner {
		return []string{"session.end_owner"}
	}
	return nil
}

func load(ctx context.Context, tx *op.Tx, id string) (owned, error) {
	s, err := op.Lock(tx, tx.Session.Query().Where(session.ID(id))).Only(ctx)
	if err != nil {
		return owned{}, err
	}
	u, err := tx.User.Query().Where(user.ID(s.UserID)).Only(tx.Unfiltered(ctx, "whose session it is decides who may end it"))
	if err != nil {
		return owned{}, fmt.Errorf("read whose session it is: %w", err)
	}
	return owned{Session: s, CreatedBy: s.UserID, role: u.Role}, nil
}

// end ends a session: at once on this node, and within store.Propagation on others. It also ends the provider's sign-in,
// because otherwise the browser would be signed in again without a question, and everything else from that sign-in: in all
// companies for people who end their own session, in this company for other callers. A session that has already ended is
// returned unchanged.
func end(ctx context.Context, tx *op.Tx, s owned, _ op.ByID) (*ent.Session, error) {
	if s.EndedAt != nil {
		return s.Session, nil
	}
	scope := access.Session(s.Session)
	if s.SignInID != "" {
		scope = access.SignIn(s.SignInID)
	}
	if p := tx.Principal(); p.Type != principal.TypeUser || p.ID != s.UserID {
		scope = scope.InCompany(s.CompanyID)
	}
	if _, err := access.End(ctx, tx, scope, access.SessionEnded); err != nil {
		return nil, err
	}
	after, err := tx.Session.Query().Where(session.ID(s.ID)).Only(tx.Unfiltered(ctx, "what was just ended is returned to the caller who ended it"))
	if err != nil {
		return nil, fmt.Errorf("read the ended session: %w", err)
	}
	tx.Changed(s.Session, after)
	return after, nil
}

// person is a user with the field CreatedBy, by which rights on own rows are decided.
type person struct {
	*ent.User
	CreatedBy string
}

func loadUser(ctx context.Context, tx *op.Tx, id string) (person, error) {
	u, err := op.Lock(tx, tx.User.Query().Where(user.ID(id))).Only(ctx)
	if err != nil {
		return person{}, err
	}
	return person{User: u, CreatedBy: u.ID}, nil
}

// EndAllInput names the person to sign out.
type EndAllInput struct {
	UserID string `json:"userId" maxLength:"64" doc:"Who is signed out."`
}

// TargetID returns the id of the person.
func (in EndAllInput) TargetID() string { return in.UserID }

// endAll signs a person out of this company everywhere. People who do this for themselves are also signed out at the provider,
// in all browsers and for all companies. An admin can do it only within the company, where the person then has to sign in
// again.
func endAll(ctx context.Context, tx *op.Tx, u person, _ EndAllInput) (*ent.User, error) {
	scope := access.User(u.ID)
	if p := tx.Principal(); p.Type == principal.TypeUser && p.ID == u.ID {
		scope = access.Account(u.AccountID)
	}
	ended, err := access.End(ctx, tx, scope, access.SignedOutEverywhere)
	if err != nil {
		return nil, err
	}
	after, err := tx.User.Query().Where(user.ID(u.ID)).Only(tx.Unfiltered(ctx, "who was just signed out is returned to the caller who did it"))
	if err != nil {
		return nil, fmt.Errorf("read the user: %w", err)
	}
	tx.ChangedField("sessions", ended.Sessions, 0)
	tx.ChangedField("grants", ended.Grants, 0)
	tx.Changed(u.User, after)
	return after, nil
}

// SwitchInput says whether the session moves to the sandbox or to the live company.
type SwitchInput struct {
	Sandbox bool `json:"sandbox" doc:"True for the sandbox, false for the live company."`
}

// Switched says where the session works from now on.
type Switched struct {
	ID        string // of the session
	Sandbox   bool
	CompanyID string // of the sandbox or the live company
}

// change moves the caller's session between the live company and its sandbox. Returns forbidden for callers without a session,
// such as API keys and tokens.
func change(ctx context.Context, tx *op.Tx, in SwitchInput) (Switched, error) {
	p := tx.Principal()
	if p.Method != principal.MethodSession || p.SessionID == "" {
		out := apperr.New(apperr.Forbidden, "Only a web session goes over to the sandbox. Keys and tokens belong to one of the two.")
		out.Reason = string(p.Method)
		return Switched{}, out
	}
	out := Switched{ID: p.SessionID, Sandbox: in.Sandbox}
	err := tx.AsSystem(ctx, "session: the caller's session is the live company's, and works in either", func(ctx context.Context) error {
		s, err := op.Lock(tx, tx.Session.Query().Where(session.ID(p.SessionID), session.EndedAtIsNil())).Only(ctx)
		if err != nil {
			return err
		}
		out.CompanyID = s.CompanyID
		if in.Sandbox {
			if out.CompanyID, err = tx.Company.Query().Where(company.SandboxOf(s.CompanyID)).OnlyID(ctx); err != nil {
				return err
			}
		}
		tx.ChangedField("sandbox", s.Sandbox, in.Sandbox)
		return s.Update().SetSandbox(in.Sandbox).Exec(ctx)
	})
	if err != nil {
		return Switched{}, fmt.Errorf("switch the session: %w", err)
	}
	tx.AuthorityChanged()
	return out, nil
}
