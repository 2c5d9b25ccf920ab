// Package mfa holds an account's second factors and verifies codes: authenticator apps, recovery codes, and the senders of text
// messages. Passkeys are stored here as factors; the pages that use them run their ceremonies.
//
//	factors.go    the rows: at most 20 for an account; the first one creates recovery codes; User.mfaEnabled mirrors whether there are any
//	totp.go       authenticator apps: secrets, and codes that are valid once
//	recovery.go   recovery codes, each valid once
//	number.go     telephone numbers
//	sms.go        senders of text messages
//
// Package signin calls it for its pages, and people for somebody who joins. The package contains no pages, does not limit
// attempts (package throttle does), and writes neither audit entries nor mails: its callers do. Rows of accounts belong to no
// company, so every context passed in must reach such rows.
package mfa
