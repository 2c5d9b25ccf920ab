// Package search finds requests by words: in their number, title, description, answers, comments and names of files, and by the names of
// their service, offering and requester. Package words says what a word is and what people may write.
//
//	document.go  what a row is found by
//	index.go     the index of each database, and the one place that reads it
//	names.go     which services, offerings and people a word names
//	find.go      what a caller finds
//	apart.go     what is found by words that stand apart, and in requests that are named
//	relevance.go the order by where the words stand
//	write.go     writing the documents
//
// # Documents
//
// Triggers make a document with its row (ent/schema/searchdocument.go), empty it in the transaction that changes the row's text and delete
// it with the row: whatever way a row changes, a word that it has no more is gone from the index, and on SQLite from the file. An Indexer
// on every node that works jobs writes the tokens twice a second, 32 documents in a transaction. To write them in the change's own
// transaction was refused: on SQLite a document takes 0.7 ms of the one writer when it is alone, and a node of the release before knows
// none of it.
//
// So that nobody waits for that, a search reads the newest 200 documents that are still to be written from their rows. A document holds
// the ids of the row's service, offering and requester instead of their names: a name that changes or is erased is no matter of the
// requests, and a caller who may not see a service does not find requests by its name.
//
// # What a caller finds
//
// The index gives candidates, the newest first, of one company. The caller of this package says which of them somebody may see, by the
// query that their list makes: tenancy, role and access policies decide as they do there. Comments are asked for in the same way. It ends
// with 1,000 requests or after 250 ms, and says that there are more; lists then sort and count these.
//
// A comment is a document of its own. The index finds what has all words in the request or all in one comment; words that stand apart, one in the
// title and one in a comment, are looked for after that, in the requests of the newest 250 documents that have the rarest word (apart.go).
// -word leaves a request out if the request has it, or any comment that the caller may read.
//
// # The indexes
//
// SQLite's is FTS5 without content and without places (detail=none), each token behind the company's id, with secure-delete: an index
// over all companies would read what the others have. PostgreSQL's is GIN over company and tokens, in a table without row-level security,
// because the operator of words is not leakproof: under a policy 399,319 of 400,000 rows were read for a search, in 10 s instead of 20 ms.
// Words side by side are looked for in the rows that have all of them. Which of its indexes serves an expression is decided here, by how
// many of the newest 2,048 documents it holds for: the planner takes each beginning of a word for a frequent one and read all documents
// for one that none has (60,000 requests: 114 ms, now 5).
package search
