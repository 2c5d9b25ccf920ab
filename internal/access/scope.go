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

// Scope says whose access ends. The zero Scope ends nothing, and so does one that was made of an empty id.
type Scope struct {
	users    predicate.User // tokens of these users that belong to no grant; nil, here and below, for none
	signIns  predicate.SignIn
	sessions predicate.Session
	grants   predicate.Grant
}

// User is a user in its company. The account's sign-ins stay: they may serve other companies.
func User(id string) Scope {
	if id == "" {
		return Scope{}
	}
	return Scope{users: user.ID(id), sessions: session.UserID(id), grants: grant.UserID(id)}
}

// Account is an account in all of its companies.
func Account(id string) Scope {
	s := SignIns(id)
	if own := user.AccountID(id); id != "" {
		s.users, s.sessions = own, session.HasUserWith(own)
	}
	return s
}

// SignIns is all sign-ins of an account at the hosted pages, with what came from them. Sessions of another issuer and tokens
// of no grant stay.
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

// SignIn is one sign-in with what came from it: its sessions and grants, offline ones included, in all companies.
func SignIn(id string) Scope {
	if id == "" {
		return Scope{}
	}
	return Scope{signIns: signin.ID(id), sessions: session.SignInID(id), grants: grant.SignInID(id)}
}

// Session is one web session and the grant that it was made of. The sign-in stays.
func Session(s *ent.Session) Scope {
	scope := Scope{sessions: session.ID(s.ID)}
	if s.GrantID != "" {
		scope.grants = grant.ID(s.GrantID)
	}
	return scope
}

// Grant is one grant and the web session that was made of it.
func Grant(id string) Scope {
	if id == "" {
		return Scope{}
	}
	return Scope{sessions: session.GrantID(id), grants: grant.ID(id)}
}

// Client is everything that people have given an OAuth client.
func Client(id string) Scope {
	if id == "" {
		return Scope{}
	}
	return Scope{grants: grant.ClientID(id)}
}

// Except leaves out a sign-in and what came from it. Tokens of no grant stay: nothing tells which sign-in they are from.
func (s Scope) Except(signInID string) Scope {
	return Scope{
		signIns:  and(s.signIns, signin.IDNEQ(signInID)),
		sessions: and(s.sessions, session.SignInIDNEQ(signInID)),
		grants:   and(s.grants, grant.SignInIDNEQ(signInID)),
	}
}

// InCompany leaves out sessions and grants of other companies: an administrator's reach ends with the company. A sign-in
// belongs to none and ends all the same.
func (s Scope) InCompany(id string) Scope {
	s.sessions = and(s.sessions, session.CompanyID(id))
	s.grants = and(s.grants, grant.CompanyID(id))
	return s
}

// PagesOnly leaves out everything but sign-ins: the hosted pages ask who the person is, applications go on.
func (s Scope) PagesOnly() Scope { return Scope{signIns: s.signIns} }

// and narrows a predicate; one that names no rows goes on naming none.
func and[P ~func(*sql.Selector)](p, q P) P {
	if p == nil {
		return nil
	}
	return sql.AndPredicates(p, q)
}
