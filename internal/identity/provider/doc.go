// Package provider is the embedded OpenID provider: authorization code with PKCE, access, ID and refresh tokens, introspection,
// revocation, userinfo and logout. It uses the protocol library zitadel/oidc.
//
// The life of an authorization request:
//
//	GET /oauth2/authorize ──checked──▶ AuthRequest row, bound to the browser by a cookie ──▶ {issuer}/signin?request=arq_…
//	                                     │ package signin: Pending, NeedsConsent
//	                                     ├─ Deny ──▶ redirect_uri?error=…&state=…&iss=…        (the row is deleted)
//	                                     └─ Allow ─▶ redirect_uri?code=…&state=…&iss=…         (60 s)
//	POST /oauth2/token  code ──once──▶ Grant, access token (5 min), ID token, refresh token with offline_access
//	                    code again ──▶ the Grant is revoked
//	POST /oauth2/token  refresh_token ──▶ the next one; again within 30 s ──▶ another next one;
//	                    later, or after a next one was used ──▶ the Grant is revoked
//
// A Grant is the family of all tokens that came from one code. Access tokens name it in their claim "grant": package authn
// accepts one only while its Grant is not revoked.
//
// Callers: cmd mounts Handler at the issuer. Package signin answers requests with Pending, NeedsConsent, Allow and Deny, and
// signs people out with EndSignIn. Logouts adds the job that delivers package access's logout notices to clients. The package
// never asks for a password and never decides who a person is. Codes, refresh tokens, client secrets and cookies are stored
// only as SHA-256 hashes.
package provider
