// Package people holds who works in a company: its users, the teams they are in and the organizations above the teams.
//
// Its operations are run by both doors and by the command line. A user is an account's membership in one company;
// signing in and passwords belong to package identity, the making of sessions to websession, API keys to apikey:
// deactivating a user signs it out everywhere and ends none of its keys. A user's status goes
//
//	(invite) → invited → active ⇄ deactivated
//	              └───────────────────↗ and back, while it has never come
//
// and from anywhere to erased, for good: the row stays without a name or an address, on an account of nobody; its keys are
// revoked, and package erasure takes the person out of what they wrote.
//
// Identity makes an invited user active when it first signs in (Accept). Only an active user shows what becomes of
// its account: a company that has merely invited somebody, or has parted with them, must learn nothing of how they sign in.
package people
