package preset

import "atrium/internal/platform/locale"

// Steps that several senders share.
var (
	pasteAddress = locale.Say("Paste this address as the URL: {url}")
	pasteSecret  = locale.Say("Paste the webhook’s secret as the secret.")
	chooseJSON   = locale.Say("Choose application/json as the content type.")
)

var code = []*Preset{
	{
		Key: "github_issues", Name: locale.Say("GitHub issues"), Description: locale.Say("Each new issue of a repository or an organization."),
		Style: "github",
		When: `("x-github-event" in webhook.headers && webhook.headers["x-github-event"] == "issues") && ` +
			`(has(webhook.body.action) && webhook.body.action == "opened")`,
		Mapping: map[string]string{
			"title":       `webhook.body.issue.title`,
			"description": `(webhook.body.issue.body == null ? "" : webhook.body.issue.body + "\n\n") + webhook.body.issue.html_url`,
			"tags":        `webhook.body.issue.labels.map(l, l.name)`,
		},
		Steps: []locale.Text{
			locale.Say("On GitHub, open the repository or the organization, then Settings › Webhooks › Add webhook."), pasteAddress, chooseJSON, pasteSecret,
			locale.Say("Choose “Let me select individual events”, and of these only Issues. Then press Add webhook."),
		},
		Sample: Sample{Headers: map[string]string{"content-type": "application/json", "x-github-event": "issues", "x-github-delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958"}},
	},
	{
		Key: "github_alerts", Name: locale.Say("GitHub security alerts"), Description: locale.Say("New alerts of Dependabot, code scanning and secret scanning."),
		Style: "github",
		When: `("x-github-event" in webhook.headers && webhook.headers["x-github-event"] in ["dependabot_alert", "code_scanning_alert", "secret_scanning_alert"]) && ` +
			`(has(webhook.body.action) && webhook.body.action in ["created", "reopened"])`,
		Mapping: map[string]string{
			"title": `webhook.body.repository.full_name + ": " + (has(webhook.body.alert.security_advisory) ? webhook.body.alert.security_advisory.summary ` +
				`: has(webhook.body.alert.rule) ? webhook.body.alert.rule.description : webhook.body.alert.secret_type_display_name)`,
			"description": `webhook.body.alert.html_url`,
			"priority": `(has(webhook.body.alert.security_advisory) ? webhook.body.alert.security_advisory.severity in ["high", "critical"] ` +
				`: !has(webhook.body.alert.rule)) ? "HIGH" : "MEDIUM"`,
			"tags": `["security", webhook.headers["x-github-event"]]`,
		},
		Steps: []locale.Text{
			locale.Say("On GitHub, open the repository or the organization, then Settings › Webhooks › Add webhook."), pasteAddress, chooseJSON, pasteSecret,
			locale.Say("Choose “Let me select individual events”, and of these Dependabot alerts, Code scanning alerts and Secret scanning alerts. Then press Add webhook."),
		},
		Sample: Sample{Headers: map[string]string{"content-type": "application/json", "x-github-event": "dependabot_alert", "x-github-delivery": "0b989ba4-242f-11e5-81e1-c7b6966d2516"}},
	},
	{
		Key: "gitlab", Name: locale.Say("GitLab issues"), Description: locale.Say("Each new issue of a project or a group."),
		Style: "bearer", Signature: &Signature{Header: new("X-Gitlab-Token")},
		When: `(has(webhook.body.object_kind) && webhook.body.object_kind == "issue") && ` +
			`(has(webhook.body.object_attributes) && has(webhook.body.object_attributes.action) && webhook.body.object_attributes.action == "open")`,
		Mapping: map[string]string{
			"title":          `webhook.body.object_attributes.title`,
			"description":    `(webhook.body.object_attributes.description == null ? "" : webhook.body.object_attributes.description + "\n\n") + webhook.body.object_attributes.url`,
			"tags":           `webhook.body.labels.map(l, l.title)`,
			"requesterEmail": `webhook.body.user.email`,
		},
		Steps: []locale.Text{
			locale.Say("On GitLab, open the project or the group, then Settings › Webhooks › Add new webhook."), pasteAddress,
			locale.Say("Paste the webhook’s secret as the secret token."),
			locale.Say("Choose only Issues events as the trigger. Then press Add webhook."),
		},
		Sample: Sample{Headers: map[string]string{"content-type": "application/json", "x-gitlab-event": "Issue Hook", "x-gitlab-event-uuid": "13792a34-cac6-4fda-95a8-c58e00a3954e"}},
	},
	{
		Key: "sentry", Name: locale.Say("Sentry"), Description: locale.Say("New issues, and alerts of alert rules."),
		Style: "header", Signature: &Signature{Header: new("Sentry-Hook-Signature"), Encoding: new(Hex)}, SecretThere: true,
		When: `("sentry-hook-resource" in webhook.headers && webhook.headers["sentry-hook-resource"] in ["issue", "event_alert"]) && ` +
			`(has(webhook.body.action) && webhook.body.action in ["created", "triggered"])`,
		Mapping: map[string]string{
			"title":       `has(webhook.body.data.issue) ? webhook.body.data.issue.title : webhook.body.data.event.title`,
			"description": `has(webhook.body.data.issue) ? webhook.body.data.issue.web_url : webhook.body.data.event.web_url`,
		},
		Steps: []locale.Text{
			locale.Say("In Sentry, open Settings › Custom Integrations, and create an internal integration."), pasteAddress,
			locale.Say("Give it the permission Issue & Event: Read, and tick issue under Webhooks. For alerts of rules, switch Alert Rule Action on. Save."),
			locale.Say("Copy the Client Secret that Sentry shows, and enter it here as the secret."),
		},
		Sample: Sample{Headers: map[string]string{"content-type": "application/json", "sentry-hook-resource": "issue", "sentry-hook-timestamp": "1796025600"}},
	},
	{
		Key: "jira", Name: locale.Say("Jira"), Description: locale.Say("Each new issue of Jira."),
		Style: "header", Signature: &Signature{Header: new("X-Hub-Signature"), Prefix: new("sha256="), Encoding: new(Hex)},
		When: `has(webhook.body.webhookEvent) && webhook.body.webhookEvent == "jira:issue_created"`,
		Mapping: map[string]string{
			"title":          `webhook.body.issue.key + ": " + webhook.body.issue.fields.summary`,
			"description":    `webhook.body.issue.fields.description`,
			"priority":       `has(webhook.body.issue.fields.priority) && webhook.body.issue.fields.priority != null && webhook.body.issue.fields.priority.name in ["Highest", "High"] ? "HIGH" : "MEDIUM"`,
			"tags":           `webhook.body.issue.fields.labels`,
			"requesterEmail": `webhook.body.issue.fields.reporter.emailAddress`,
		},
		Steps: []locale.Text{
			locale.Say("In Jira, open Settings › System › WebHooks, and create a webhook. This takes an administrator of Jira."), pasteAddress,
			locale.Say("Paste the webhook’s secret as the secret. Without one Jira does not sign, and calls are refused."),
			locale.Say("Under Issue, tick created. Limit it to your projects by JQL, for example project = HELP. Save."),
		},
		Sample: Sample{Headers: map[string]string{"content-type": "application/json", "x-atlassian-webhook-identifier": "b5a1c4a4-7b3f-4a53-9d0e-1f2f8e0a7c11"}},
	},
}
