package demo

import (
	"strings"

	"atrium/internal/desk/catalog"
	"atrium/internal/desk/form"
)

// process is a workflow of the demo company and the offering that uses it. The words OWNER and LEAD in the definition stand
// for the ids of the first owner and of the lead, who approves.
type process struct {
	workflow, definition  string
	offering, description string
	form                  []form.Field
}

// processes are four processes that many companies have. The onboarding calls an address that does not exist, so that there
// is an incident to look at; skipping the call lets the process continue.
var processes = []process{
	{
		"Employee onboarding", `{
  "phases": [
    {"id": "start", "type": "START"},
    {"id": "check", "type": "DATA", "name": "Check the dates", "config": {"kind": "validate", "onInvalid": "ask", "rules": [
      {"check": "timestamp(request.fields.firstDay + 'T00:00:00Z') > request.createdAt", "message": "The first day must lie ahead.", "field": "firstDay"}]},
      "participants": [{"role": "responsible", "type": "user", "id": "OWNER"}]},
    {"id": "approve", "type": "APPROVAL", "name": "Approve the hire", "requestAction": "accept",
      "config": {"approvers": [{"type": "user", "id": "LEAD"}], "mode": "all", "deadline": "7d"}},
    {"id": "account", "type": "API_CALL", "name": "Make the account", "config": {"method": "POST", "url": "https://directory.example/people",
      "body": {"name": "${request.fields.name}", "firstDay": "${request.fields.firstDay}"}, "response": {"id": "response.body.id"}, "retries": {"max": 1}}},
    {"id": "desk", "type": "PROCESS", "name": "Prepare the desk", "config": {"title": "Prepare a desk for ${request.fields.name}", "dueMinutes": 2880},
      "participants": [{"role": "responsible", "type": "user", "id": "OWNER"}, {"role": "informed", "type": "user", "id": "OWNER"}]},
    {"id": "first_day", "type": "TIMER", "name": "Wait for the first day", "config": {"until": "timestamp(request.fields.firstDay + 'T08:00:00Z')"}},
    {"id": "welcome", "type": "PROCESS", "name": "Welcome", "config": {"title": "Welcome ${request.fields.name}"},
      "participants": [{"role": "responsible", "type": "user", "id": "OWNER"}]},
    {"id": "declined", "type": "END", "requestAction": "cancel"},
    {"id": "done", "type": "END", "requestAction": "complete"}
  ],
  "transitions": [
    {"from": "start", "name": "next", "to": "check"}, {"from": "check", "name": "next", "to": "approve"},
    {"from": "approve", "name": "approved", "to": "account"}, {"from": "approve", "name": "rejected", "to": "declined"},
    {"from": "approve", "name": "expired", "to": "declined"}, {"from": "account", "name": "next", "to": "desk"},
    {"from": "desk", "name": "next", "to": "first_day"}, {"from": "first_day", "name": "next", "to": "welcome"}, {"from": "welcome", "name": "next", "to": "done"}
  ]
}`,
		"Onboard an employee", "A desk, an account and a welcome on the first day.",
		[]form.Field{
			{Key: "name", Label: "Name", Type: form.Text, Required: true},
			{Key: "firstDay", Label: "First day", Type: form.Date, Required: true},
		},
	},
	{
		"Incident intake", `{
  "phases": [
    {"id": "start", "type": "START"},
    {"id": "rate", "type": "DATA", "name": "Rate", "config": {"kind": "enrich", "set": {
      "major": "request.fields.affected > 50.0 || request.priority == 'URGENT'", "minutes": "request.fields.affected > 50.0 ? 60 : 480"}}},
    {"id": "major", "type": "DECISION", "name": "Major?", "config": {"rules": [{"when": "phases.rate.major == true", "transition": "major"}], "default": "minor"}},
    {"id": "war_room", "type": "PROCESS", "name": "Open the war room", "requestAction": "accept", "config": {"title": "Now: ${request.title}", "dueMinutes": 15},
      "participants": [{"role": "responsible", "type": "user", "id": "OWNER"}, {"role": "informed", "type": "user", "id": "OWNER"}]},
    {"id": "mend", "type": "PROCESS", "name": "Mend", "requestAction": "accept", "config": {"title": "Mend: ${request.title}", "dueMinutes": 480,
      "form": {"fields": [{"key": "cause", "label": "Cause", "type": "textarea", "required": true}]}},
      "participants": [{"role": "responsible", "type": "user", "id": "OWNER"}]},
    {"id": "done", "type": "END", "requestAction": "complete"}
  ],
  "transitions": [
    {"from": "start", "name": "next", "to": "rate"}, {"from": "rate", "name": "next", "to": "major"}, {"from": "major", "name": "major", "to": "war_room"},
    {"from": "major", "name": "minor", "to": "mend"}, {"from": "war_room", "name": "next", "to": "mend"}, {"from": "mend", "name": "next", "to": "done"}
  ]
}`,
		"Report an incident", "Something does not work.",
		[]form.Field{{Key: "affected", Label: "How many people are affected?", Type: form.Number, Required: true}},
	},
	{
		"Access request", `{
  "phases": [
    {"id": "start", "type": "START"},
    {"id": "sensitive", "type": "DECISION", "name": "Sensitive?", "config": {
      "rules": [{"when": "request.fields.level == 'read'", "transition": "grant"}], "default": "ask"}},
    {"id": "approve", "type": "APPROVAL", "name": "Approve the access", "config": {
      "approvers": [{"type": "user", "id": "LEAD"}], "mode": "quorum", "quorum": 1, "deadline": "3d"}},
    {"id": "grant", "type": "PROCESS", "name": "Grant", "requestAction": "accept", "config": {"title": "Give ${request.fields.level} access to ${request.fields.system}"},
      "participants": [{"role": "responsible", "type": "user", "id": "OWNER"}]},
    {"id": "granted", "type": "TIMER", "name": "Granted for 90 days", "config": {"duration": "90d"}},
    {"id": "revoke", "type": "PROCESS", "name": "Revoke", "config": {"title": "Take the access to ${request.fields.system} away"},
      "participants": [{"role": "responsible", "type": "user", "id": "OWNER"}]},
    {"id": "declined", "type": "END", "requestAction": "cancel"},
    {"id": "done", "type": "END", "requestAction": "complete"}
  ],
  "transitions": [
    {"from": "start", "name": "next", "to": "sensitive"}, {"from": "sensitive", "name": "grant", "to": "grant"}, {"from": "sensitive", "name": "ask", "to": "approve"},
    {"from": "approve", "name": "approved", "to": "grant"}, {"from": "approve", "name": "rejected", "to": "declined"}, {"from": "approve", "name": "expired", "to": "declined"},
    {"from": "grant", "name": "next", "to": "granted"}, {"from": "granted", "name": "next", "to": "revoke"}, {"from": "revoke", "name": "next", "to": "done"}
  ]
}`,
		"Access for 90 days", "Read or write access, which ends by itself.",
		[]form.Field{
			{Key: "system", Label: "Which system?", Type: form.Text, Required: true},
			{Key: "level", Label: "Level", Type: form.Select, Required: true, Options: []string{"read", "write"}},
		},
	},
	{
		"Purchase", `{
  "phases": [
    {"id": "start", "type": "START"},
    {"id": "amount", "type": "DECISION", "name": "How much?", "config": {
      "rules": [{"when": "request.fields.amount < 100.0", "transition": "small"}], "default": "lead"}},
    {"id": "lead", "type": "APPROVAL", "name": "Approval of the lead", "config": {"approvers": [{"type": "user", "id": "LEAD"}], "mode": "all", "order": "sequential"}},
    {"id": "large", "type": "DECISION", "name": "Large?", "config": {
      "rules": [{"when": "request.fields.amount >= 5000.0", "transition": "finance"}], "default": "order"}},
    {"id": "finance", "type": "APPROVAL", "name": "Approval of finance", "config": {"approvers": [{"type": "user", "id": "LEAD"}], "mode": "all", "order": "sequential"}},
    {"id": "order", "type": "PROCESS", "name": "Order", "requestAction": "accept", "config": {"title": "Order ${request.fields.what}",
      "form": {"fields": [{"key": "orderNumber", "label": "Order number", "type": "text", "required": true}]}},
      "participants": [{"role": "responsible", "type": "user", "id": "OWNER"}]},
    {"id": "declined", "type": "END", "requestAction": "cancel"},
    {"id": "done", "type": "END", "requestAction": "complete"}
  ],
  "transitions": [
    {"from": "start", "name": "next", "to": "amount"}, {"from": "amount", "name": "small", "to": "order"}, {"from": "amount", "name": "lead", "to": "lead"},
    {"from": "lead", "name": "approved", "to": "large"}, {"from": "lead", "name": "rejected", "to": "declined"},
    {"from": "large", "name": "finance", "to": "finance"}, {"from": "large", "name": "order", "to": "order"},
    {"from": "finance", "name": "approved", "to": "order"}, {"from": "finance", "name": "rejected", "to": "declined"}, {"from": "order", "name": "next", "to": "done"}
  ]
}`,
		"Buy something", "Below 100 at once; from 5,000 finance is asked as well.",
		[]form.Field{
			{Key: "what", Label: "What?", Type: form.Text, Required: true},
			{Key: "amount", Label: "For how much?", Type: form.Number, Required: true},
		},
	},
}

// processes creates the demo workflows and their offerings.
func (d *filling) processes(serviceID, owner, lead string) {
	ids := strings.NewReplacer("OWNER", owner, "LEAD", lead)
	for _, p := range processes {
		id := d.workflow(p.workflow, ids.Replace(p.definition))
		d.publish(id)
		d.offering(serviceID, catalog.CreateOfferingInput{
			Name: p.offering, Description: &p.description, WorkflowID: &id, Form: &form.Definition{Fields: p.form},
		})
	}
}
