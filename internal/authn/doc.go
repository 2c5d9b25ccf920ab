// Package authn turns credentials into principals: API keys, bearer tokens, and later sessions.
//
// The doors call it once per request, before anything else. What it reads from the database it keeps only as long as
// changes of keys, roles and plans are heard (store.Authority), so that a revoked key is refused at once. It decides
// nothing beyond who is calling: what the caller may do is package op's question.
//
// It also holds the operations on API keys: issue, rotate, revoke, list.
package authn
