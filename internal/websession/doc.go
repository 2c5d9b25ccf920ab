// Package websession signs people in to the web application and keeps their sessions: server-side rows behind a cookie
// that only the browser and the server see.
//
//	GET  /login?returnTo=/path ──▶ the provider (code, PKCE, state, nonce; what was begun is sealed in a cookie)
//	GET  /login/callback       ──▶ code for tokens, ID token verified ──▶ Session row, new cookie ──▶ /path
//	POST /logout               ──▶ Session and the provider's sign-in ended, cookie cleared
//
//	Session:  (callback) → live ──────────▶ ended   by logout, session.end, session.end_all, deactivation, a new sign-in
//	                        └── unused ───▶ over    after the company's lifetime, 2 days at the latest; 30 days in all
//
// The provider is the embedded one, called in process, or the issuer that the operator configured; both take the same way.
// Callers: cmd mounts Handler at the base URL; the GraphQL door asks CheckOrigin before it takes a cookie, and runs the
// operations on sessions. Package authn recognises the cookie and moves a session's end on.
//
// The package keeps no token of the provider (a browser that another issuer signed in keeps the ID token, sealed, to sign
// out there with), never sends a browser to another host than the provider's and its own, and
// never lets a value of the cookie live through a sign-in.
package websession
