// Package authn turns credentials into principals: API keys, bearer tokens and web sessions.
//
// The doors call it once per request, before anything else. A credential that is not remembered costs one read, whatever
// stands behind it; what was read is remembered only as long as changes of keys, sessions, grants, roles and plans are
// heard (store.Authority), so that a revoked key or an ended session is refused at once here, and within
// store.Propagation on other nodes. It decides nothing beyond who is calling: what the caller may do is package op's
// question.
//
// Keys are issued and revoked by package apikey, sessions begun by package websession, grants given by the identity provider;
// sessions and grants end in package access.
package authn
