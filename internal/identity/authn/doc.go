// Package authn turns credentials into principals: API keys, bearer tokens and web sessions.
//
// Package gate calls it once per call, before anything else, and again for every open stream. A credential that is not
// cached costs one read, whatever its kind. A cached credential is used only as long as changes of keys, sessions, grants,
// roles and plans are heard (store.Authority), so that a revoked key or an ended session is refused at once on this node,
// and within store.Propagation on other nodes. The package only decides who is calling; package op decides what the caller
// may do.
//
// Package apikey issues and revokes keys, package websession creates sessions, and the identity provider creates grants.
// Package access ends sessions and grants.
package authn
