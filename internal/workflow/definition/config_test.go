package definition

import (
	"strings"
	"testing"
)

const config = "definition.phases[p].config"

func TestProcessConfig(t *testing.T) {
	t.Parallel()
	refused(t, with(Process, "next"), []fault{
		{"unknown key", `{"assignee":"usr_1"}`, []string{config + `.assignee: Is not a known field.`}},
		{"title", `{"title":7}`, []string{config + ".title: Must be a string, not a number."}},
		{"long title", `{"title":"` + strings.Repeat("x", 1001) + `"}`, []string{config + ".title: May be at most 1000 characters long."}},
		{"title's expression", `{"title":"Do ${request.nothing}"}`, []string{config + ".title: The expression does not compile (line 1, column 8): undefined field 'nothing'."}},
		{"instructions", `{"instructions":{}}`, []string{config + ".instructions: Must be a string, not an object."}},
		{"due at once", `{"dueMinutes":0}`, []string{config + ".dueMinutes: Must be a whole number from 1 to 525600."}},
		{"due in a year and a minute", `{"dueMinutes":525601}`, []string{config + ".dueMinutes: Must be a whole number from 1 to 525600."}},
		{"form", `{"form":[]}`, []string{config + ".form: Must be an object, not a list."}},
		{"form's keys", `{"form":{"title":1,"fields":[{"key":"a","type":"text","size":3}]}}`, []string{
			config + `.form.title: Is not a known field.`,
			config + `.form.fields[0].size: Is not a known field.`,
		}},
		{"form's types", `{"form":{"fields":[3,{"key":1,"type":"text","min":"1","required":"yes","options":[1],"accept":[1],"maxFiles":1.5,"visibleWhen":[]}]}}`, []string{
			config + ".form.fields[0]: Must be an object, not a number.",
			config + ".form.fields[1].key: Must be a string, not a number.",
			config + ".form.fields[1].options[0]: Must be a string, not a number.",
			config + ".form.fields[1].accept[0]: Must be a string, not a number.",
			config + ".form.fields[1].maxFiles: Must be a whole number from 1 to 20.",
			config + ".form.fields[1].min: Must be a number, not a string.",
			config + ".form.fields[1].required: Must be a boolean, not a string.",
			config + ".form.fields[1].visibleWhen: Must be an object, not a list.",
		}},
	})
}

func TestDecisionConfig(t *testing.T) {
	t.Parallel()
	refused(t, with(Decision, "yes", "no"), []fault{
		{"nothing", `{}`, []string{config + ".default: Is required."}},
		{"null", `null`, []string{config + ".default: Is required."}},
		{"unknown key", `{"default":"no","rules":[{"when":"true","transition":"yes"}],"else":"no"}`, []string{config + `.else: Is not a known field.`}},
		{"rules", `{"default":"no","rules":{}}`, []string{config + ".rules: Must be a list, not an object."}},
		{"rule's keys", `{"default":"no","rules":[{"if":"true"}]}`, []string{
			config + `.rules[0].if: Is not a known field.`,
			config + ".rules[0].when: Is required.",
			config + ".rules[0].transition: Is required.",
		}},
		{"no bool", `{"default":"no","rules":[{"when":"request.title","transition":"yes"}]}`, []string{
			config + ".rules[0].when: The expression must give a bool, not a string.",
		}},
		{"missing transitions", `{"default":"perhaps","rules":[{"when":"true","transition":"yes"},{"when":"false","transition":"never"},{"when":"false","transition":"no"}]}`, []string{
			config + `.rules[1].transition: No transition named "never" leaves the phase "p".`,
			config + `.default: No transition named "perhaps" leaves the phase "p".`,
		}},
		{"a transition that nothing names", `{"default":"no"}`, []string{
			`definition.transitions[1].name: The phase "p", of type DECISION, takes no way out named "yes"; it takes no.`,
		}},
	})
}

func TestDataConfig(t *testing.T) {
	t.Parallel()
	refused(t, with(Data, "next"), []fault{
		{"nothing", `{}`, []string{config + ".kind: Is required."}},
		{"kind", `{"kind":"guess","set":{}}`, []string{config + ".kind: Must be one of enrich, validate."}},
		{"no set", `{"kind":"enrich"}`, []string{config + ".set: Is required."}},
		{"empty set", `{"kind":"enrich","set":{}}`, []string{config + ".set: Needs at least one variable."}},
		{"keys of the other kind", `{"kind":"enrich","set":{"a":"1"},"onInvalid":"ask","rules":[]}`, []string{
			config + `.onInvalid: Is not a known field.`, config + `.rules: Is not a known field.`,
		}},
		{"variables", `{"kind":"enrich","set":{"a-b":"1","c":null,"d":"1 +","e":5}}`, []string{
			config + `.set.a-b: Is not a variable's name: it takes letters, digits and _.`,
			config + ".set.c: Needs an expression.",
			config + ".set.d: The expression does not compile (line 1, column 4): Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}.",
			config + ".set.e: Must be a string, not a number.",
		}},
		{"no rules", `{"kind":"validate"}`, []string{config + ".rules: Is required."}},
		{"empty rules", `{"kind":"validate","rules":[]}`, []string{config + ".rules: Needs at least one entry."}},
		{"rule", `{"kind":"validate","rules":[{"check":"1","message":1,"field":2,"x":3}]}`, []string{
			config + `.rules[0].x: Is not a known field.`,
			config + ".rules[0].check: The expression must give a bool, not an int.",
			config + ".rules[0].message: Must be a string, not a number.",
			config + ".rules[0].field: Must be a string, not a number.",
		}},
		{"onInvalid", `{"kind":"validate","rules":[{"check":"true"}],"onInvalid":"shrug"}`, []string{config + ".onInvalid: Must be one of fail, route, ask."}},
		{"route without a way", `{"kind":"validate","rules":[{"check":"true"}],"onInvalid":"route"}`, []string{`definition.phases[p]: The phase "p" needs a transition named invalid.`}},
	})
	refused(t, with(Data, "next", "invalid"), []fault{
		{"a way without route", `{"kind":"validate","rules":[{"check":"true"}],"onInvalid":"ask"}`, []string{
			`definition.transitions[2].name: The phase "p", of type DATA, takes no way out named "invalid"; it takes next.`,
		}},
	})
}

func TestTimerConfig(t *testing.T) {
	t.Parallel()
	const grammar = config + ".duration: Must be a length of time such as 90s, 5m, 2h30m or 3d, at most 3660d."
	refused(t, with(Timer, "next"), []fault{
		{"nothing", `{}`, []string{config + ": A TIMER takes exactly one of duration and until."}},
		{"both", `{"duration":"5m","until":"request.createdAt"}`, []string{config + ": A TIMER takes exactly one of duration and until."}},
		{"unknown key", `{"duration":"5m","every":"5m"}`, []string{config + `.every: Is not a known field.`}},
		{"no unit", `{"duration":"90"}`, []string{grammar}},
		{"a Go duration", `{"duration":"1.5h"}`, []string{grammar}},
		{"the wrong order", `{"duration":"30m2h"}`, []string{grammar}},
		{"nothing long", `{"duration":"0s"}`, []string{grammar}},
		{"below zero", `{"duration":"-5m"}`, []string{grammar}},
		{"too long", `{"duration":"3661d"}`, []string{grammar}},
		{"very long", `{"duration":"999999999d"}`, []string{grammar}},
		{"a number", `{"duration":90}`, []string{config + ".duration: Must be a string, not a number."}},
		{"until a text", `{"until":"request.title"}`, []string{config + ".until: The expression must give a timestamp, not a string."}},
		{"until no moment", `{"until":"timestamp('tomorrow')"}`, []string{config + ".until: The expression does not compile (line 1, column 11): invalid timestamp argument."}},
		{"calendar", `{"duration":"5m","calendarId":[]}`, []string{config + ".calendarId: Must be a string, not a list."}},
	})
	refused(t, with(Timer, "done"), []fault{
		{"another way out", `{"duration":"5m"}`, []string{`definition.transitions[1].name: The phase "p", of type TIMER, takes no way out named "done"; it takes next.`}},
	})
}

func TestCalloutConfig(t *testing.T) {
	t.Parallel()
	const notSecret = config + `.signingSecret: Must be "${secrets.NAME}" and nothing else.`
	refused(t, with(WebhookCallout, "next"), []fault{
		{"nothing", `{}`, []string{config + ".url: Is required."}},
		{"unknown key", `{"url":"https://a.example","method":"POST"}`, []string{config + `.method: Is not a known field.`}},
		{"plain http", `{"url":"http://a.example"}`, []string{config + ".url: Must begin with https:// outside of any expression."}},
		{"event", `{"url":"https://a.example","event":"a b"}`, []string{config + ".event: Takes up to 100 letters, digits, dots, - and _."}},
		{"data", `{"url":"https://a.example","data":{"a":[{"b":"${request.fields.x"}]}}`, []string{config + ".data.a[0].b: A ${ in this template is not closed by a }."}},
		{"a secret in clear", `{"url":"https://a.example","signingSecret":"whsec_abc"}`, []string{notSecret}},
		{"more than a secret", `{"url":"https://a.example","signingSecret":"x${secrets.A}"}`, []string{notSecret}},
		{"no secret's name", `{"url":"https://a.example","signingSecret":"${secrets.lower}"}`, []string{notSecret}},
	})
	refused(t, with(WebhookCallout, "next", "failed"), []fault{
		{"another way out", `{"url":"https://a.example"}`, []string{`definition.transitions[2].name: The phase "p", of type WEBHOOK_CALLOUT, takes no way out named "failed"; it takes next.`}},
	})
}

func TestAPICallConfig(t *testing.T) {
	t.Parallel()
	get := func(more string) string { return `{"method":"GET","url":"https://a.example/x"` + more + `}` }
	refused(t, with(APICall, "next"), []fault{
		{"nothing", `{}`, []string{config + ".method: Is required.", config + ".url: Is required."}},
		{"unknown key", get(`,"auth":1`), []string{config + `.auth: Is not a known field.`}},
		{"method", `{"method":"get","url":"https://a.example"}`, []string{config + ".method: Must be one of GET, POST, PUT, PATCH, DELETE, HEAD."}},
		{"headers", get(`,"headers":{"a b":"1","Host":"x","X-A":"1","x-a":"2","X-B":null,"X-C":5,"idempotency-key":"1"}`), []string{
			config + `.headers.a b: Is not a header's name.`,
			config + ".headers.Host: Is a header that the platform sets.",
			config + ".headers.x-a: Is set twice.",
			config + ".headers.X-B: Needs a value.",
			config + ".headers.X-C: Must be a string, not a number.",
			config + ".headers.idempotency-key: Is a header that the platform sets.",
		}},
		{"two lines in a header", get(`,"headers":{"X-A":"1\r\nX-B: 2"}`), []string{config + ".headers.X-A: Must not hold line breaks or other control characters."}},
		{"body", get(`,"body":["${phases.gone.x}"]`), []string{config + `.body[0]: No phase has the id "gone", which the expression reads.`}},
		{"response", get(`,"response":{"a":"response.code","b b":"1"}`), []string{
			config + ".response.a: The expression does not compile (line 1, column 9): undefined field 'code'.",
			config + `.response.b b: Is not a variable's name: it takes letters, digits and _.`,
		}},
		{"response elsewhere", get(`,"body":"${response.status}"`), []string{config + ".body: The variable response stands only in the response expressions of an API_CALL."}},
		{"secrets in response", get(`,"response":{"a":"secrets.A"}`), []string{config + ".response.a: Secrets may be used only in templates of API_CALL and WEBHOOK_CALLOUT: secrets.A."}},
		{"status rules", get(`,"statusRules":[{"status":"4x","transition":"next"},{"status":404,"transition":"next"},{"status":"600","transition":"next"},{}]`), []string{
			config + `.statusRules[0].status: Must be an HTTP status such as "404", or a class such as "4xx".`,
			config + ".statusRules[1].status: Must be a string, not a number.",
			config + `.statusRules[2].status: Must be an HTTP status such as "404", or a class such as "4xx".`,
			config + ".statusRules[3].status: Is required.",
			config + ".statusRules[3].transition: Is required.",
		}},
		{"a rule's missing transition", get(`,"statusRules":[{"status":"404","transition":"missing"}]`), []string{config + `.statusRules[0].transition: No transition named "missing" leaves the phase "p".`}},
		{"retries", get(`,"retries":{"max":11,"backoffSeconds":0,"x":1}`), []string{
			config + `.retries.x: Is not a known field.`,
			config + ".retries.max: Must be a whole number from 0 to 10.",
			config + ".retries.backoffSeconds: Must be a whole number from 1 to 3600.",
		}},
		{"backoff", get(`,"retries":{"max":-1,"backoffSeconds":3601}`), []string{
			config + ".retries.max: Must be a whole number from 0 to 10.",
			config + ".retries.backoffSeconds: Must be a whole number from 1 to 3600.",
		}},
		{"timeout", get(`,"timeoutSeconds":61`), []string{config + ".timeoutSeconds: Must be a whole number from 1 to 60."}},
		{"no timeout", get(`,"timeoutSeconds":0`), []string{config + ".timeoutSeconds: Must be a whole number from 1 to 60."}},
	})
	refused(t, with(APICall, "missing"), []fault{
		{"no next", get(`,"statusRules":[{"status":"404","transition":"missing"}]`), []string{`definition.phases[p]: The phase "p" needs a transition named next.`}},
		{"a way that nothing names", get(``), []string{`definition.transitions[1].name: The phase "p", of type API_CALL, takes no way out named "missing"; it takes next.`}},
	})
}

func TestURLs(t *testing.T) {
	t.Parallel()
	wrap := func(url string) string { return with(APICall, "next")(`{"method":"GET","url":` + url + `}`) }
	const begin = config + ".url: Must begin with https:// outside of any expression."
	const malformed = config + ".url: Is not a well-formed URL."
	refused(t, wrap, []fault{
		{"plain http", `"http://a.example"`, []string{begin}},
		{"from an expression", `"${webhook.body.url}"`, []string{begin}},
		{"scheme from an expression", `"${webhook.body.scheme}://a.example"`, []string{begin}},
		{"a secret base", `"${secrets.BASE}/x"`, []string{begin}},
		{"half a scheme", `"https:/${webhook.body.host}"`, []string{begin}},
		{"no host", `"https://"`, []string{malformed}},
		{"no host but a path", `"https:///x"`, []string{malformed}},
		{"a space", `"https://a.example/a b"`, []string{malformed}},
		{"a bad port", `"https://a.example:port/"`, []string{malformed}},
		{"a backslash", `"https://a.example\\@b.example"`, []string{malformed}},
		{"a password", `"https://u:p@a.example/"`, []string{config + ".url: Must not hold a user name or password."}},
		{"a user from an expression", `"https://${secrets.U}@a.example/"`, []string{config + ".url: Must not hold a user name or password."}},
		{"a fragment", `"https://a.example/#x"`, []string{config + ".url: Must not hold a fragment."}},
		{"long", `"https://a.example/` + strings.Repeat("x", 2048) + `"`, []string{config + ".url: May be at most 2048 characters long."}},
	})
	for _, good := range []string{
		`"https://a.example"`, `"HTTPS://a.example:8443/x?y=1"`, `"https://${request.fields.host}.example/${request.id}?q=${request.title}"`,
		`"https://a.example:${phases.p.port}/"`, `"https://[::1]/"`,
	} {
		accepted(t, wrap(good))
	}
}

func TestApprovalConfig(t *testing.T) {
	t.Parallel()
	approval := func(more string) string {
		return `{"approvers":[{"type":"user","id":"usr_1"},{"type":"team","id":"team_1"}]` + more + `}`
	}
	refused(t, with(Approval, "approved", "rejected"), []fault{
		{"nothing", `{}`, []string{config + ".approvers: Is required.", config + ".mode: Is required."}},
		{"unknown key", approval(`,"mode":"any","min":1`), []string{config + `.min: Is not a known field.`}},
		{"nobody", `{"approvers":[],"mode":"any"}`, []string{config + ".approvers: Needs at least one entry."}},
		{"an agent", `{"approvers":[{"type":"agent","id":"agt_1"}],"mode":"any"}`, []string{config + ".approvers[0].type: Must be one of user, team, assignee, serviceTeam, answer."}},
		{"approver's keys", `{"approvers":[{"type":"user","role":"x"}],"mode":"any"}`, []string{
			config + `.approvers[0].role: Is not a known field.`, config + ".approvers[0].id: Is required.",
		}},
		{"twice", `{"approvers":[{"type":"user","id":"usr_1"},{"type":"user","id":"usr_1"}],"mode":"all"}`, []string{config + `.approvers[1].id: The user "usr_1" is an approver already.`}},
		{"mode", approval(`,"mode":"most"`), []string{config + ".mode: Must be one of any, all, quorum."}},
		{"order", approval(`,"mode":"any","order":"random"`), []string{config + ".order: Must be one of parallel, sequential."}},
		{"no quorum", approval(`,"mode":"quorum"`), []string{config + ".quorum: Is required with the mode quorum."}},
		{"quorum of none", approval(`,"mode":"quorum","quorum":0`), []string{config + ".quorum: Must be a whole number from 1 to 2."}},
		{"quorum of too many", approval(`,"mode":"quorum","quorum":3`), []string{config + ".quorum: Must be a whole number from 1 to 2."}},
		{"quorum without the mode", approval(`,"mode":"all","quorum":1`), []string{config + ".quorum: Belongs to the mode quorum only."}},
		{"deadline", approval(`,"mode":"any","deadline":"soon"`), []string{
			config + ".deadline: Must be a length of time such as 90s, 5m, 2h30m or 3d, at most 3660d.",
			`definition.phases[p]: The phase "p" needs a transition named expired.`,
		}},
		{"deadline without expired", approval(`,"mode":"any","deadline":"3d"`), []string{`definition.phases[p]: The phase "p" needs a transition named expired.`}},
	})
	refused(t, with(Approval, "approved", "rejected", "expired"), []fault{
		{"expired without a deadline", approval(`,"mode":"any"`), []string{
			`definition.transitions[3].name: The phase "p", of type APPROVAL, takes no way out named "expired"; it takes approved, rejected.`,
		}},
	})
	refused(t, with(Approval, "approved"), []fault{
		{"no rejected", approval(`,"mode":"any"`), []string{`definition.phases[p]: The phase "p" needs a transition named rejected.`}},
	})
}
