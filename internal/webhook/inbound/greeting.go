package inbound

import (
	"context"
	"net/http"

	"atrium/ent"
	"atrium/ent/inboundwebhook"
	"atrium/internal/op"
	"atrium/internal/platform/locale"
)

// Senders make some calls only to see whether somebody answers. They are known whatever a webhook was made for, start nothing, and show
// in the history as ignored.

// Ignored is the answer to a call that starts nothing.
type Ignored struct {
	Status      string  `json:"status" doc:"ignored" example:"ignored"`
	WebhookID   string  `json:"webhookId" example:"whi_01k9ye4ryzf7stj6dqnm8x2v3b"`
	ExecutionID *string `json:"executionId" doc:"null"`
}

// Challenge is the answer to the request with which Slack verifies an address.
type Challenge struct {
	Challenge string `json:"challenge"`
}

// Said is the answer to a command of Slack, which only the person sees who gave it.
type Said struct {
	ResponseType string `json:"response_type" example:"ephemeral"`
	Text         string `json:"text"`
}

func ignored(w *ent.InboundWebhook) Ignored { return Ignored{Status: "ignored", WebhookID: w.ID} }

// greeting says why a call is one that starts nothing; empty for any other call. answer is what its sender expects, and nil where any
// answer will do. h are its headers by any case of their names.
func greeting(style inboundwebhook.SignatureStyle, event string, body any) (reason string, answer any) {
	at := func(path ...string) string { return textAt(body, path) }
	switch {
	case event == "ping":
		return "GitHub asks whether the address answers.", nil
	case at("event", "event_type") == "pagey.ping":
		return "PagerDuty asks whether the address answers.", nil
	case style == inboundwebhook.SignatureStyleSlack && at("type") == "url_verification" && at("challenge") != "":
		return "Slack asks whether the address answers.", Challenge{at("challenge")}
	case style == inboundwebhook.SignatureStyleSlack && at("ssl_check") == "1":
		return "Slack asks whether the address answers.", nil
	case style == inboundwebhook.SignatureStyleSns && at("Type") == "UnsubscribeConfirmation":
		return "Amazon SNS has ended the subscription.", nil
	case style == inboundwebhook.SignatureStyleSns && at("Type") == "SubscriptionConfirmation":
		return "Amazon SNS asks for a subscription, which is confirmed when it comes with a right signature.", nil
	}
	return "", nil
}

// eventOf returns what GitHub says that a call is.
func eventOf(h http.Header) string { return h.Get("X-Github-Event") }

// isCommand reports whether a call is a command of Slack.
func isCommand(style inboundwebhook.SignatureStyle, body any) bool {
	return style == inboundwebhook.SignatureStyleSlack && textAt(body, []string{"command"}) != ""
}

// told is what the person reads who gave a command, in the language of the company.
func (d *Door) told(ctx context.Context, w *ent.InboundWebhook, started bool) Said {
	text := locale.Say("This command starts nothing here.")
	if started {
		text = locale.Say("Thank you, this is on its way.")
	}
	p := locale.Printer{Language: locale.English}
	if c, err := d.engine.Store.Reader().Company.Get(ctx, w.CompanyID); err == nil { // else in English
		p = op.ReaderOf(nil, c)
	}
	return Said{ResponseType: "ephemeral", Text: p.T(text)}
}
