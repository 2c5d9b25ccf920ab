// Package platform has no code of its own. Its rooms know nothing of requests, workflows or people, and import nothing of internal
// but each other:
//
//	apperr      errors with a code, a public message and a private cause
//	backup      a backup of all data while the server runs
//	clock       the time of a context
//	egress      calls to addresses that customers choose
//	files       the encrypted bytes of files
//	id          ids with a prefix per entity
//	jobs        background work, on River
//	locale      the languages and time zones of people, and their catalogues
//	markdown    what people write, as a tree of nodes
//	period      the bounds of statistics over time
//	principal   the caller: who, of which company, with which scopes
//	ratelimit   counting calls and attempts, in memory or in Redis
//	run         starting the parts of a server, and stopping them in reverse
//	seal        encryption under the master key; kms fetches that key from a key service
//	share       the places of a process, divided among companies
//	store       SQLite and PostgreSQL, transactions, migrations
//	strictjson  JSON that refuses what encoding/json lets pass
//	text        what is one line, blank or too long
//	words       the words of texts and searches
package platform
