// Package signin holds the hosted pages for signing in, from the password to the second factor, the choice of a company and
// the consent, and /account/mfa, where people manage their factors.
//
// cmd mounts Server.Handler at the authorization server's address. The identity provider sends every authorization request to
// /signin?request=arq_…, and this package answers it with provider.Allow or provider.Deny; the provider knows nothing of
// pages. Package account, which holds the pages for passwords and invitations, uses SignIns from here; this package knows
// nothing of account. Both render with package pages, and count attempts with package throttle before they check them.
// Package mfa owns the factors; this package has their pages, their audit entries and notices, and the ceremonies of
// passkeys.
//
// A browser's state is one SignIn row, found by the SHA-256 of the cookie __Host-atrium_signin. The next step is never
// stored: Server.next derives it each time from the request, the row and the account, so that nobody can skip a step by
// calling another one's address:
//
//	             ┌──────────────────────────── proof too old, prompt=login ─────────────────────────────┐
//	             ▼                                                                                       │
//	/signin ─> password ─> second factor ─> which account ─> which company ─> enrolment ─> consent ─> Allow ─> the client
//	   │           ▲       (if the account    (prompt=          (several, or    (the company  (third
//	   │           │        has one)           select_account)   an invitation)  requires it)  parties)
//	   └─ passkey ─┘  proves both at once
//
// A client names the language of the pages by ui_locales. It stands in the addresses of all steps (goal.query), so that it needs neither a
// column nor a cookie; without it the pages are in the language of the person, else of the browser (pages.Layout.Printer).
//
// Every proof renews the cookie (session fixation). Package pages protects the forms.
//
// The package never issues a code or a token, never decides what somebody may do in the product, never stores a secret in the
// clear, and never reveals whether an e-mail address has an account.
package signin
