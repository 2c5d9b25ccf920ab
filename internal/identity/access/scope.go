package access

import (
	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/grant"
	"atrium/ent/predicate"
	"atrium/ent/session"
	"atrium/ent/signin"
	"atrium/ent/user"
)

// Scope says whose access ends. The zero Scope ends nothing, and neither does a Scope made from an empty id.
type Scope struct {
	users    predicate.User // tokens of these users that belong to no grant; here and below, nil means none
	signIns  predicate.SignIn
	sessions predicate.Session
	grants   predicate.Grant
}

// User covers a user in one company. The account's sign-ins stay, because they may serve other companies.
func User(id string) Scope {
	if id == "" {
		return Scope{}
	}
	return Scope{users: user.ID(id), sessions: session.UserID(id), grants: grant.UserID(id)}
}

// Account covers an account in all of its companies.
func Account(id string) Scope {
	s := SignIns(id)
	if own := user.AccountID(id); id != "" {
		s.users, s.sessions = own, session.HasUserWith(own)
	}
	return s
}

// SignIns covers all sign-ins of an account at the hosted pages, and the sessions and grants that came from them. Sessions
// of another issuer and tokens without a grant stay.
func SignIns(accountID string) Scope {
	if accountID == "" {
		return Scope{}
	}
	own := user.AccountID(accountID)
	return Scope{
		signIns:  signin.AccountID(accountID),
		sessions: session.And(session.HasUserWith(own), session.SignInIDNEQ("")),
		grants:   grant.HasUserWith(own),
	}
}

// SignIn covers one sign-in, and its sessions and grants in all companies, offline grants included.
func SignIn(id string) Scope {
	if id == "" {
		return Scope{}
	}
	return Scope{signIns: signin.ID(id), sessions: session.SignInID(id), grants: grant.SignInID(id)}
}

// Session covers one web session and the grant that it was made from. The sign-in stays.
func Session(s *ent.Session) Scope {
	scope := Scope{sessions: session.ID(s.ID)}
	if s.GrantID != "" {
		scope.grants = grant.ID(s.GrantID)
	}
	return scope
}

// Grant covers one grant and the web session that was made from it.
func Grant(id string) Scope {
	if id == "" {
		return Scope{}
	}
	return Scope{sessions: session.GrantID(id), grants: grant.ID(id)}
}

// Client covers all grants that people have given an OAuth client.
func Client(id string) Scope {
	if id == "" {
		return Scope{}
	}
	return Scope{grants: grant.ClientID(id)}
}

// Except leaves out a sign-in with its sessions and grants. Tokens without a grant also stay, because nothing records the
// sign-in that they came from.
func (s Scope) Except(signInID string) Scope {
	return Scope{
		signIns:  and(s.signIns, signin.IDNEQ(signInID)),
		sessions: and(s.sessions, session.SignInIDNEQ(signInID)),
		grants:   and(s.grants, grant.SignInIDNEQ(signInID)),
	}
}

// InCompany leaves out sessions and grants of other companies, because an administrator may act only in one company. A
// sign-in belongs to no company and ends nevertheless.
func (s Scope) InCompany(id string) Scope {
	s.sessions = and(s.sessions, session.CompanyID(id))
	s.grants = and(s.grants, grant.CompanyID(id))
	return s
}

// PagesOnly leaves out everything but sign-ins: the hosted pages ask again who the person is, and applications continue.
func (s Scope) PagesOnly() Scope { return Scope{signIns: s.signIns} }

// and narrows a predicate; a nil predicate, which matches nothing, stays nil.
func and[P ~func(*sql.Selector)](p, q P) P {
	if p == nil {
		return nil
	}
	return sql.AndPredicates(p, q)
}
