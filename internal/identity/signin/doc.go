// Package signin is where people sign in: the provider's hosted pages, from the password to the second factor, the
// choice of a company and the consent, and /account/mfa, where they look after their factors.
//
// cmd mounts Server.Handler at the authorization server's address. The identity provider sends every authorization
// request to /signin?request=arq_…, and this package answers it with provider.Allow or provider.Deny; the provider
// knows nothing of pages. Package account, which holds the pages around passwords and invitations, borrows SignIns from here;
// this package knows nothing of it. Both render by package pages, and count attempts by package throttle before they check
// them. Factors are package mfa's; here are the pages about them, what the log and the person are told, and passkeys'
// ceremonies.
//
// A browser's state is one SignIn row, found by the SHA-256 of the cookie __Host-atrium_signin. What is to be done next is
// never kept: it follows from the request, the row and the account each time (Server.next), so that no step can be
// skipped by calling another one's address:
//
//	             ┌──────────────────────────── proof too old, prompt=login ─────────────────────────────┐
//	             ▼                                                                                       │
//	/signin ─> password ─> second factor ─> which account ─> which company ─> enrolment ─> consent ─> Allow ─> the client
//	   │           ▲       (if the account    (prompt=          (several, or    (the company  (third
//	   │           │        has one)           select_account)   an invitation)  requires it)  parties)
//	   └─ passkey ─┘  proves both at once
//
// The cookie is renewed with every proof (session fixation). Forms are guarded by package pages.
//
// What it never does: issue a code or a token, decide what anybody may do in the product, keep a secret in the clear, or
// tell whether an e-mail address has an account.
package signin
