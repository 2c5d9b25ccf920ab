// Package access ends the access of people and applications: web sessions, the grants of OAuth clients with their refresh and
// access tokens, and sign-ins at the hosted pages, finished or not.
//
// End is the only function that ends any of these. A Scope says whose access ends, and a Reason says why. A call affects only
// the kinds that its scope names (Client, for example, names only grants, and PagesOnly only sign-ins):
//
//	sign-ins        ended, and what an unfinished one remembers is forgotten
//	sessions        ended; their cookies are refused
//	grants          revoked; their refresh and access tokens are refused
//	other tokens    refused when they are older (User and Account: the operator's tokens belong to no grant)
//	applications    told by a back-channel logout notice, once for each client, user and sign-in of a grant, unless the
//	                client ended the access itself or is deleted
//	caches          forgotten on this node at the commit, on others within store.Propagation
//
// The rows stay and record when they ended. API keys are not affected: package apikey revokes them one by one.
//
//	way that access ends          scope                                     reason
//	a user is deactivated         User                                      Deactivated
//	a person is erased            User                                      Erased
//	signed out everywhere         User; Account when people do it themselves  SignedOutEverywhere
//	a session is ended            SignIn, InCompany when an admin does it     SessionEnded
//	signed out                    SignIn                                    SignedOut
//	second factors are reset      SignIns                                   FactorsReset
//	the password is changed       Account, Except this browser's sign-in    PasswordChanged
//	the password is reset         Account                                   PasswordReset
//	a client is deleted           Client                                    ClientDeleted
//	a client gets more scopes     Client                                    ClientWidened
//	a client revokes a token      Grant                                     TokenRevoked
//	a code comes twice            Grant                                     CodeReused
//	a refresh token comes again   Grant                                     RefreshReused
//	another sign-in or session    SignIn, PagesOnly; Session                Replaced
//	begins in the browser
//
// Callers are people, websession, identity, and the packages of the provider and the hosted pages. gone.go (Gone, Here) says
// which users may act and be assigned work. This package never decides who may end what, and never writes audit entries: its
// callers do both. Package provider delivers the notices.
package access
