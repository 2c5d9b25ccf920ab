// Package preset knows the senders that call inbound webhooks: how each of them signs, which of its calls are worth a request, what the
// request is made of, what to do at the sender, and what a call of it looks like.
//
//	preset.go     the type, the list and the samples
//	signature.go  what a style needs besides the secret
//	code.go       GitHub, GitLab, Jira, Sentry
//	alarms.go     PagerDuty, Alertmanager, Grafana
//	others.go     Stripe, Slack, any other
//
// A preset is text alone: whoever makes a webhook copies it into the webhook's settings, and changes it as they like. Nothing of a
// webhook changes when a later release has another preset. The conditions are in the form that the console's rows write, so that they
// open as rows. Tests of package inbound send each sample, signed as its sender signs, and see it start or be ignored.
package preset
