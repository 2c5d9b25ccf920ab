package preset

import "atrium/internal/platform/locale"

var others = []*Preset{
	{
		Key: "stripe", Name: locale.Say("Stripe"), Description: locale.Say("Disputes and payments that failed."),
		Style: "stripe", SecretThere: true,
		When: `has(webhook.body.type) && webhook.body.type in ["charge.dispute.created", "invoice.payment_failed"]`,
		Mapping: map[string]string{
			"title":       `webhook.body.type + ": " + webhook.body.data.object.id`,
			"description": `has(webhook.body.data.object.reason) ? webhook.body.data.object.reason : ""`,
			"priority":    `webhook.body.type == "charge.dispute.created" ? "HIGH" : "MEDIUM"`,
		},
		Steps: []locale.Text{
			locale.Say("In Stripe, open Developers › Webhooks › Add destination."),
			locale.Say("Choose the events charge.dispute.created and invoice.payment_failed, and Webhook endpoint as the destination."), pasteAddress,
			locale.Say("Copy the signing secret that Stripe shows, and enter it here as the secret."),
		},
		Sample: Sample{Headers: map[string]string{"content-type": "application/json; charset=utf-8", "user-agent": "Stripe/1.0 (+https://stripe.com/docs/webhooks)"}},
	},
	{
		Key: "slack_command", Name: locale.Say("Slack command"), Description: locale.Say("People file a request by a command such as /desk."),
		Style: "slack", SecretThere: true,
		Mapping: map[string]string{
			"title":       `webhook.body.text == "" ? webhook.body.command : webhook.body.text`,
			"description": `"Slack: " + webhook.body.user_name + ", #" + webhook.body.channel_name`,
			"tags":        `["slack"]`,
		},
		Steps: []locale.Text{
			locale.Say("On api.slack.com/apps, create an app or open yours, then Slash Commands › Create New Command."),
			locale.Say("Give the command a name, such as /desk, and paste this address as the Request URL: {url}"),
			locale.Say("Under Basic Information, copy the Signing Secret, and enter it here as the secret."),
			locale.Say("Install the app in your workspace."),
		},
		Sample: Sample{Headers: map[string]string{"content-type": "application/x-www-form-urlencoded", "x-slack-request-timestamp": "1796025600"}},
	},
	{
		Key: "generic", Name: locale.Say("Another sender"), Description: locale.Say("Any program that sends JSON and can sign it."),
		Style: "hex",
		Mapping: map[string]string{
			"title": `webhook.body.title`, "description": `webhook.body.description`, "tags": `webhook.body.tags`, "requesterEmail": `webhook.body.email`,
		},
		Steps: []locale.Text{
			locale.Say("Have the program send JSON by POST to this address: {url}"),
			locale.Say("Have it sign each call: the header x-webhook-signature holds sha256= and the HMAC-SHA256 of the body in hexadecimal. The key is the webhook’s secret."),
			locale.Say("A call that may be sent twice carries the same webhook-id or Idempotency-Key each time, and files one request."),
		},
		Sample: Sample{Headers: map[string]string{"content-type": "application/json", "webhook-id": "delivery-4711"}},
	},
}
