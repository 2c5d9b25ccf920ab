// Package provider is the embedded OpenID provider: authorization code with PKCE, access, ID and refresh tokens,
// introspection, revocation, userinfo and logout, on the protocol library zitadel/oidc.
//
// An authorization request takes this way:
//
//	GET /oauth2/authorize ──checked──▶ AuthRequest row, bound to the browser by a cookie ──▶ {issuer}/signin?request=arq_…
//	                                     │ package signin: Pending, NeedsConsent
//	                                     ├─ Deny ──▶ redirect_uri?error=…&state=…&iss=…        (the row is deleted)
//	                                     └─ Allow ─▶ redirect_uri?code=…&state=…&iss=…         (60 s)
//	POST /oauth2/token  code ──once──▶ Grant, access token (5 min), ID token, refresh token with offline_access
//	                    code again ──▶ the Grant is revoked
//	POST /oauth2/token  refresh_token ──once──▶ the next one; again ──▶ the Grant is revoked
//
// A Grant is the family of all tokens that came from one code. Access tokens name it in their claim "grant": package
// authn takes one only while its Grant is not revoked.
//
// Callers: cmd mounts Handler at the issuer; package signin answers requests by Pending, NeedsConsent, Allow and Deny, and
// signs out by EndSignIn. Logouts is the job that delivers package access's notices to clients. The package never asks anybody
// for a password and never decides who a person is. Codes, refresh tokens, client secrets and cookies are kept as SHA-256
// only.
package provider
