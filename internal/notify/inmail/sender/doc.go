// Package sender says whether a mail comes from whom its From names. A From counts only if it is aligned (DMARC, RFC 7489): the domain of
// a valid DKIM signature, or the domain of an envelope sender that SPF lets the client send for, is the domain of the From or belongs to
// the same organization. What the domain's policy asks receivers to do (p=none) makes no difference, and a domain without a policy
// is compared in the relaxed way.
//
//	Checker.Check      asks the DNS itself: the mail came by our own SMTP listener, or by somebody who passes it on unchanged
//	Results            believes the topmost Authentication-Results of one server, which took the mail before us
//	Checker.Forwarded  the same for mail that came by our listener: its client must be of that server's organization
//
// Two authors, or a header that programs read in different ways, are never aligned: who signed may have meant the other one.
//
// Costs: 3 signatures, and only those of the From's own organization; SPF with at most the 10 terms of RFC 7208, and only if the envelope
// is of that organization; 20 queries and 5 s altogether. A mail of an address that nobody vouches for takes two queries. A mail of
// 1 MB with a signature takes 19 ms on a busy machine. What could not be asked is Temporary: ask again later.
//
// Authentication-Results are read by this package. The parser of go-msgauth splits at every semicolon, also at one within quotes or a
// comment, where the writer of the mail chooses the words: mailfrom="x; dmarc=pass header.from=victim.test"@evil.test.
package sender
