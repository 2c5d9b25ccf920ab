// Package people holds who works in a company: its users, the teams they are in and the organizations above the teams.
//
// Its operations are run by both doors and by the command line. A user is an account's membership in one company;
// signing in and passwords belong to package identity, the making of sessions to websession, API keys to apikey:
// deactivating a user signs it out everywhere and ends none of its keys. A user's status goes
//
//	(invite) → invited → active ⇄ deactivated
//	              └───────────────────↗
//
// where identity makes an invited user active when it first signs in.
package people
