// Package websession signs people in to the web application and manages their sessions: rows on the server, identified by a
// cookie that only the browser and the server see.
//
//	GET  /login?returnTo=/path ──▶ the provider (code, PKCE, state, nonce; the sign-in is sealed in a cookie)
//	GET  /login/callback       ──▶ code for tokens, ID token verified ──▶ Session row, new cookie ──▶ /path
//	POST /logout               ──▶ Session and the provider's sign-in ended, cookie cleared
//
//	Session:  (callback) → live ──────────▶ ended     by logout, session.end, session.end_all, deactivation, a new sign-in
//	                        └── unused ───▶ expired   after the company's lifetime, at most 2 days; 30 days in all
//
// The provider is the embedded one, called in process, or the issuer that the operator configured; the flow is the same.
//
// Callers: cmd mounts Handler at the base URL. GraphQL runs the operations on sessions, and checks the origin of calls with a
// cookie itself. Package authn recognises the cookie and extends sessions.
//
// The package stores no token of the provider; with another issuer, the browser keeps the ID token, sealed, for signing out
// there. It never redirects a browser to a host other than the provider's and its own, and never keeps the value of a session
// cookie across a sign-in.
package websession
