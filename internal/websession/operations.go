package websession

import (
	"context"
	"fmt"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/company"
	"atrium/ent/grant"
	"atrium/ent/predicate"
	"atrium/ent/session"
	"atrium/ent/signin"
	"atrium/ent/user"
	"atrium/internal/apperr"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/principal"
)

var sorts = op.Sorts{"createdAt": session.FieldCreatedAt, "lastSeenAt": session.FieldLastSeenAt}

// The operations on web sessions. People list and end their own, admins everybody's.
var (
	List = op.New("session.list", op.Spec{
		Resource: "Session", Action: op.Read, AdminLayer: true, Sorts: sorts, Summary: "List the web sessions that a person has open",
	}, list)

	End = op.OnRow("session.end", op.Spec{
		Resource: "Session", Action: op.Update, AdminLayer: true, Summary: "End a web session, and the sign-in that it came from",
	}, load, end)

	EndAll = op.OnRow("session.end_all", op.Spec{
		Resource: "Session", Action: op.Update, AdminLayer: true,
		Summary: "Sign a person out everywhere: all sessions, and the tokens of all applications",
	}, loadUser, endAll)

	Switch = op.New("session.switch", op.Spec{
		Resource: "Session", Action: op.Update, AdminLayer: true, Summary: "Go over to the sandbox, or back to the live company",
	}, change)

	// create is run by the callback, in the name of the person who has signed in.
	create = op.New("session.create", op.Spec{
		Resource: "Session", Action: op.Create, AdminLayer: true, Summary: "Begin a web session",
	}, open)
)

// ListInput says whose sessions are listed.
type ListInput struct {
	op.Page
	UserID string `json:"-" query:"userId" maxLength:"64" doc:"Whose sessions; the caller's own when not given."`
}

// list returns the sessions that are open, the newest first. Whoever may see only their own finds nothing of others. In a
// sandbox there are none: sessions are the live company's.
func list(ctx context.Context, tx *op.Tx, in ListInput) (op.List[*ent.Session], error) {
	p := tx.Principal()
	whose := in.UserID
	if whose == "" {
		whose = p.ID
	}
	q := tx.Session.Query().Where(session.UserID(whose), session.EndedAtIsNil(), session.ExpiresAtGT(tx.Now(ctx)))
	if tx.OwnOnly() {
		q.Where(session.UserID(p.ID))
	}
	return op.ListOf(ctx, in.Page, sorts, q.Count, func(ctx context.Context, order func(*sql.Selector), offset, limit int) ([]*ent.Session, error) {
		return q.Clone().Order(order).Offset(offset).Limit(limit).All(ctx)
	})
}

// owned is a session as the rule of own rows sees it: its person's.
type owned struct {
	*ent.Session
	CreatedBy string
}

func load(ctx context.Context, tx *op.Tx, id string) (owned, error) {
	s, err := op.Lock(tx, tx.Session.Query().Where(session.ID(id))).Only(ctx)
	if err != nil {
		return owned{}, err //nolint:wrapcheck // the pipeline reads Ent's own error
	}
	return owned{Session: s, CreatedBy: s.UserID}, nil
}

// end ends a session at once on this node, and within store.Propagation on others. The provider's sign-in ends with it:
// the browser would be let in again without a question otherwise. So does what else came from that sign-in, in this
// company or, for the person itself, in all; applications are told. A session that is over already stays as it is.
func end(ctx context.Context, tx *op.Tx, s owned, _ op.ByID) (*ent.Session, error) {
	if s.EndedAt != nil {
		return s.Session, nil
	}
	after, err := s.Update().SetEndedAt(tx.Now(ctx)).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("end the session: %w", err)
	}
	if s.SignInID != "" {
		err := tx.AsSystem(ctx, "session: sign-ins belong to no company", func(ctx context.Context) error {
			return endSignIn(ctx, tx, s.Session)
		})
		if err != nil {
			return nil, fmt.Errorf("end the sign-in: %w", err)
		}
	}
	tx.AuthorityChanged()
	tx.Changed(s.Session, after)
	return after, nil
}

// endSignIn ends the sign-in that a session came from, with its grants and sessions. The context reaches all companies:
// what an administrator ends is the session's company's.
func endSignIn(ctx context.Context, tx *op.Tx, s *ent.Session) error {
	if err := tx.SignIn.Update().Where(signin.ID(s.SignInID), signin.EndedAtIsNil()).SetEndedAt(tx.Now(ctx)).ClearPending().Exec(ctx); err != nil {
		return fmt.Errorf("end it: %w", err)
	}
	grants := []predicate.Grant{grant.SignInID(s.SignInID), grant.RevokedAtIsNil()}
	sessions := []predicate.Session{session.SignInID(s.SignInID), session.EndedAtIsNil()}
	if p := tx.Principal(); p.Type != principal.TypeUser || p.ID != s.UserID {
		grants, sessions = append(grants, grant.CompanyID(s.CompanyID)), append(sessions, session.CompanyID(s.CompanyID))
	}
	revoked, err := tx.Grant.Query().Where(grants...).All(ctx)
	if err != nil {
		return fmt.Errorf("find its grants: %w", err)
	}
	if err := tx.Grant.Update().Where(grants...).SetRevokedAt(tx.Now(ctx)).Exec(ctx); err != nil {
		return fmt.Errorf("revoke its grants: %w", err)
	}
	if err := tx.Session.Update().Where(sessions...).SetEndedAt(tx.Now(ctx)).Exec(ctx); err != nil {
		return fmt.Errorf("end its sessions: %w", err)
	}
	return tx.TellClients(ctx, revoked) //nolint:wrapcheck // says what it was doing
}

// person is a user as the rule of own rows sees it: its own.
type person struct {
	*ent.User
	CreatedBy string
}

func loadUser(ctx context.Context, tx *op.Tx, id string) (person, error) {
	u, err := op.Lock(tx, tx.User.Query().Where(user.ID(id))).Only(ctx)
	if err != nil {
		return person{}, err //nolint:wrapcheck // the pipeline reads Ent's own error
	}
	return person{User: u, CreatedBy: u.ID}, nil
}

// EndAllInput names the person.
type EndAllInput struct {
	UserID string `json:"userId" maxLength:"64" doc:"Who is signed out."`
}

// TargetID returns the person's id.
func (in EndAllInput) TargetID() string { return in.UserID }

// endAll signs the person out of this company everywhere. Whoever does so for itself is signed out at the provider as
// well, in all browsers and for all companies; an admin's reach ends with the company, for which its people then have to
// prove anew who they are. Returns conflict in a sandbox.
func endAll(ctx context.Context, tx *op.Tx, u person, _ EndAllInput) (*ent.User, error) {
	if tx.Principal().Sandbox {
		return nil, apperr.New(apperr.Conflict, "Sessions are the live company's. Go back to it first.")
	}
	after, err := people.SignOut(ctx, tx, u.User)
	if err != nil {
		return nil, err //nolint:wrapcheck // says what it was doing
	}
	if p := tx.Principal(); p.Type == principal.TypeUser && p.ID == u.ID {
		err := tx.AsSystem(ctx, "session: sign-ins belong to no company", func(ctx context.Context) error {
			return tx.SignIn.Update().Where(signin.AccountID(u.AccountID), signin.EndedAtIsNil()).SetEndedAt(tx.Now(ctx)).Exec(ctx)
		})
		if err != nil {
			return nil, fmt.Errorf("end the sign-ins: %w", err)
		}
	}
	return after, nil
}

// SwitchInput says where to.
type SwitchInput struct {
	Sandbox bool `json:"sandbox" doc:"True for the sandbox, false for the live company."`
}

// Switched is where the session works from now on.
type Switched struct {
	ID        string // of the session
	Sandbox   bool
	CompanyID string // the sandbox's or the live company's
}

// change moves the caller's session between the live company and its sandbox. Returns forbidden for other callers than
// sessions.
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
			return err //nolint:wrapcheck // wrapped below
		}
		out.CompanyID = s.CompanyID
		if in.Sandbox {
			if out.CompanyID, err = tx.Company.Query().Where(company.SandboxOf(s.CompanyID)).OnlyID(ctx); err != nil {
				return err //nolint:wrapcheck // wrapped below
			}
		}
		tx.ChangedField("sandbox", s.Sandbox, in.Sandbox)
		return s.Update().SetSandbox(in.Sandbox).Exec(ctx) //nolint:wrapcheck // wrapped below
	})
	if err != nil {
		return Switched{}, fmt.Errorf("switch the session: %w", err)
	}
	tx.AuthorityChanged()
	return out, nil
}
