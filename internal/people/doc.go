// Package people holds the people of a company: its users, their teams, and the organizations above the teams.
//
// REST, GraphQL and the command line run its operations. A user is an account's membership in one company. Sign-in and
// passwords belong to package identity, the creation of sessions to websession, API keys to apikey: deactivating a user
// signs it out everywhere, but ends none of its keys. A user's status changes like this:
//
//	(invite) → invited → active ⇄ deactivated
//	              └───────────────────↗ and back, if it was never accepted
//
// Every status can become erased, which is final. The row of an erased user stays, without name or address, on an account
// that belongs to nobody. Its keys are revoked, and package erasure removes the person from the texts that they wrote.
//
// Identity makes an invited user active at the first sign-in (Accept). Only an active user shows changes of its account: a
// company that has only invited somebody, or has deactivated them, must not learn how they sign in.
//
// Three rooms are about whole companies and persons: company (opening and closing one), erasure (removing a person
// from what others keep) and transfer (moving a company to another installation).
package people
