// Package inmail reads the mails that people send to the product: Parse makes a Message of the bytes. It neither stores nor decides
// anything; who wrote the mail, and what becomes of it, its caller finds out with the rooms beside it:
//
//	inmail     what a mail says: text without quotation, attachments, whether a machine sent it
//	sender     whether it comes from whom its From names (SPF, DKIM, DMARC)
//	reply      the addresses that answers go to, one for each request and person
//	listener   the SMTP server that takes mails
//	imap       fetching mails from a mailbox elsewhere
//
//	header.go      addresses, ids, the subject and its prefixes
//	walk.go        the parts, in one pass
//	leaf.go        a part: text or attachment
//	charset.go     transfer encodings and charsets
//	html.go        HTML as text, by its tokens; markup.go what programs mark as quotation in it
//	quote.go       what the author wrote and what was there before; phrase.go the words of some 20 languages for it
//	automatic.go   machines (RFC 3834); bounce.go their reports (RFC 3464)
//	signed.go      PGP and S/MIME, unpacked and not checked
//
// Nothing is only cut: each line of a text is in Text or in Quoted, what is no text is an attachment, and what could not be read is
// noted. Of alternatives the plain text counts, but HTML that marks its quotation, in whatever language. Quotations between answers stay,
// up to 20 lines each; with one answer above or below, they go.
//
// Mails are hostile. One of 1 MB takes 6 ms and 4 MB of memory; the worst of those that were made to cost much 0.19 s and 140 MB
// (lines of two bytes). Refused: enmime, which takes 3.5 s for 1,152 bytes of multiparts within each other and does not end for six more;
// here they are read in one pass, whatever their depth. Of go-message only the charsets are used: its readers go through the bytes once
// a level, end at the first bad line of a part, and put U+FFFD for what they cannot decode without a word.
package inmail
