// Package mfa holds an account's second factors and what is proven by them: authenticator apps, recovery codes, and what
// brings text messages to telephones. Passkeys are kept here as factors; their ceremonies belong to the pages that hold them.
//
//	factors.go    the rows: at most 20 of an account, the first brings recovery codes, users of the account show that there are any
//	totp.go       authenticator apps: secrets, codes, each code once
//	recovery.go   recovery codes, each once
//	number.go     telephone numbers
//	sms.go        providers of text messages
//
// Package signin asks it on its pages, and people when somebody joins. It knows no page and no browser, counts no attempts
// (package throttle does), and writes neither audit entries nor mails: whoever changes factors does. Rows of accounts belong
// to no company, so that every context here reaches all of them.
package mfa
