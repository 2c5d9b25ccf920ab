package preset

import "atrium/internal/platform/locale"

// What Alertmanager and Grafana send alike.
const (
	firing        = `has(webhook.body.status) && webhook.body.status == "firing"`
	labels        = `webhook.body.commonLabels.map(k, k + "=" + webhook.body.commonLabels[k])`
	bySeverity    = `has(webhook.body.commonLabels.severity) && webhook.body.commonLabels.severity == "critical" ? "HIGH" : "MEDIUM"`
	alertName     = `has(webhook.body.commonLabels.alertname) ? webhook.body.commonLabels.alertname : webhook.body.groupKey`
	alertsSummary = `webhook.body.alerts.map(a, has(a.annotations.summary) ? a.annotations.summary : a.fingerprint).join("\n")`
)

var alarms = []*Preset{
	{
		Key: "pagerduty", Name: locale.Say("PagerDuty"), Description: locale.Say("Each incident that is triggered."),
		Style: "pagerduty", SecretThere: true,
		When: `has(webhook.body.event) && has(webhook.body.event.event_type) && webhook.body.event.event_type == "incident.triggered"`,
		Mapping: map[string]string{
			"title":       `webhook.body.event.data.title`,
			"description": `webhook.body.event.data.html_url`,
			"priority":    `webhook.body.event.data.urgency == "high" ? "HIGH" : "MEDIUM"`,
			"tags":        `[webhook.body.event.data.service.summary]`,
		},
		Steps: []locale.Text{
			locale.Say("In PagerDuty, open Integrations › Generic Webhooks (v3) › New Webhook."), pasteAddress,
			locale.Say("Choose the scope, and of the events only incident.triggered. Press Add Webhook."),
			locale.Say("PagerDuty now shows a secret, this once. Enter it here as the secret."),
		},
		Sample: Sample{Headers: map[string]string{"content-type": "application/json", "x-webhook-subscription": "PWEBHKA"}},
	},
	{
		Key: "alertmanager", Name: locale.Say("Prometheus Alertmanager"), Description: locale.Say("Each group of alerts that fires."),
		Style: "bearer", When: firing,
		Mapping: map[string]string{"title": alertName, "description": alertsSummary, "priority": bySeverity, "tags": labels},
		Steps: []locale.Text{
			locale.Say("Add this receiver to alertmanager.yml, with the webhook’s secret as the credentials:\n\n" +
				"receivers:\n  - name: atrium\n    webhook_configs:\n      - url: {url}\n        send_resolved: false\n" +
				"        http_config:\n          authorization:\n            credentials: {secret}"),
			locale.Say("Name the receiver in a route. A group that goes on firing is sent again after repeat_interval, and files another request then: make it long."),
			locale.Say("Have Alertmanager read its settings again."),
		},
		Sample: Sample{Headers: map[string]string{"content-type": "application/json", "user-agent": "Alertmanager/0.28.0"}},
	},
	{
		Key: "grafana", Name: locale.Say("Grafana"), Description: locale.Say("Each group of alerts that fires."),
		Style: "header", Signature: &Signature{Header: new("X-Grafana-Alerting-Signature"), Encoding: new(Hex)}, When: firing,
		Mapping: map[string]string{
			"title": `has(webhook.body.title) ? webhook.body.title : ` + alertName, "description": `webhook.body.message`, "priority": bySeverity, "tags": labels,
		},
		Steps: []locale.Text{
			locale.Say("In Grafana, open Alerting › Contact points › Add contact point, and choose Webhook as the integration."), pasteAddress,
			locale.Say("Under HMAC Signature, paste the webhook’s secret. Leave the timestamp header empty. Grafana before version 12 has no such field: choose the signature “Bearer” here, and paste the secret there as the credentials of the authorization header."),
			locale.Say("Switch “Disable resolved message” on, and save. Then name the contact point in a notification policy."),
		},
		Sample: Sample{Headers: map[string]string{"content-type": "application/json", "user-agent": "Grafana"}},
	},
}
