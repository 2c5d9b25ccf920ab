// Package throttle limits attempts at the hosted pages by account, browser and address: passwords and codes, text messages, and
// mails that anonymous callers request. Package ratelimit counts them in rows that all nodes share.
//
//	proof    an account       20 failures in a row, then pauses of 1 to 45 min
//	         an address       100 failures, then pauses of 10 s to 15 min; an IPv6 address counts by its /64
//	         a known browser  10 failures, in place of the other two
//	message  an account, a number   5 codes, then pauses of 15 to 45 min
//	         an address         60 within an hour
//	         the installation   1,000 a day unless the operator says otherwise; for enrolling, half of that
//	mail     an e-mail address  5 within an hour; what comes on top is sent only where no earlier link still works
//	         an address         60 within an hour
//
// Messages for signing in and for enrolling are counted separately, and so are mails for resets and for sign-ups.
//
// An attempt is counted as a failure before it is checked, so that many attempts at once cannot exceed the limit; Proved and
// Undo take it back. Somebody who knows only an e-mail address can make its owner wait for at most an hour, and not in a
// browser in which that account has signed in before. Failures of an account and of its browsers together stay below 40.
//
// Its callers are signin and account. Package gate limits all calls of an anonymous address before that.
package throttle
