// Package notify has no code of its own. Its rooms tell people and pages what happened:
//
//	feed     the changed rows of a company, for the subscriptions of GraphQL
//	inmail   what people send by mail: reading it, its sender, addresses for answers, SMTP and IMAP
//	mailbox  addresses whose mail becomes requests and comments
//	mail     the outbox of mails and how they look
//	notice   who is told of what, at once, in a digest or never
package notify
