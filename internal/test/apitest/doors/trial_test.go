package doors

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/principal"
	"atrium/internal/test/apitest"
)

// trialOf asks for all that a trial shows.
const trialOf = `query($definition: JSON, $id: ID, $request: ID, $fields: JSON, $webhook: JSON, $answers: JSON, $until: String) {
  tryWorkflow(id: $id, definition: $definition, request: $request, fields: $fields, webhook: $webhook, answers: $answers, until: $until) {
    status stopped { phaseId reason answer message } variables error { phaseId code message }
    steps {
      phaseId name type status startedAt finishedAt transition to branch attempts input output error { phaseId code message } rules { when transition holds error }
      asks { kind title dueAt who { role type id name } mode quorum sequential outcomes answer source } calls { attempt at sent answer source }
      told { role type id name } requestStatus
    }
  }
}`

// moments are told by the clock of each call. REST shows objects that are not there as empty ones.
var moments = map[string]bool{"startedAt": true, "finishedAt": true, "dueAt": true, "at": true, "createdAt": true, "updatedAt": true, "acceptedAt": true, "firstResponseAt": true, "completedAt": true, "until": true, "receivedAt": true}

func timeless(v any, key string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, one := range v {
			if k == "input" || k == "output" {
				if one == nil {
					one = map[string]any{}
				}
			}
			out[k] = timeless(one, k)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, one := range v {
			out[i] = timeless(one, "")
		}
		return out
	case string:
		if moments[key] {
			return "a moment"
		}
	}
	return v
}

// Both doors answer a trial alike, refuse it alike, and leave no row behind: no execution, no task, no audit entry, no event, no job.
func TestTrialsAreAlikeAndLeaveNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		lead := s.A.Tenant.Users[principal.Agent].ID
		definition := vars{
			"phases": []vars{
				{"id": "start", "type": "START"},
				{"id": "review", "type": "PROCESS", "requestAction": "accept", "participants": []vars{{"role": "responsible", "type": "user", "id": lead}, {"role": "informed", "type": "user", "id": lead}}},
				{"id": "dear", "type": "DECISION", "config": vars{"rules": []vars{{"when": "request.fields.amount > 100", "transition": "board"}}, "default": "cheap"}},
				{"id": "board", "type": "APPROVAL", "config": vars{"approvers": []vars{{"type": "user", "id": lead}}, "mode": "quorum", "quorum": 1, "deadline": "1d"}},
				{"id": "buy", "type": "API_CALL", "config": vars{"method": "POST", "url": "https://shop.example/orders", "headers": vars{"X": "${request.title}"}, "body": vars{"n": "${request.fields.amount}"}}},
				{"id": "wait", "type": "TIMER", "config": vars{"duration": "3d"}},
				{"id": "end", "type": "END", "requestAction": "complete"},
			},
			"transitions": []vars{
				{"from": "start", "name": "next", "to": "review"}, {"from": "review", "name": "next", "to": "dear"}, {"from": "dear", "name": "board", "to": "board"},
				{"from": "dear", "name": "cheap", "to": "end"}, {"from": "board", "name": "approved", "to": "buy"}, {"from": "board", "name": "rejected", "to": "end"},
				{"from": "board", "name": "expired", "to": "end"}, {"from": "buy", "name": "next", "to": "wait"}, {"from": "wait", "name": "next", "to": "end"},
			},
		}
		save := func(as apitest.Caller, definition vars) string {
			return s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/workflows", Body: vars{"name": "Laptop", "definition": definition}}).ID()
		}
		flow := save(s.A.OwnerKey, definition)
		theirs := save(s.B.OwnerKey, vars{
			"phases": []vars{{"id": "s", "type": "START"}, {"id": "e", "type": "END"}}, "transitions": []vars{{"from": "s", "name": "next", "to": "e"}},
		})
		answers := vars{"review": vars{"outcome": "next"}, "board": vars{"decision": "APPROVE"}, "buy": vars{"status": 201, "body": vars{"id": "o1"}}}
		before := s.Counts(t)
		for name, c := range map[string]struct {
			in   vars
			code string
		}{
			"all answered":       {vars{"id": flow, "fields": vars{"amount": 500}, "answers": answers}, ""},
			"a definition":       {vars{"definition": definition, "fields": vars{"amount": 5}, "answers": answers}, ""},
			"no answer":          {vars{"id": flow, "fields": vars{"amount": 500}}, ""},
			"a failing rule":     {vars{"id": flow, "answers": answers}, ""},
			"until":              {vars{"id": flow, "fields": vars{"amount": 500}, "answers": answers, "until": "buy"}, ""},
			"a call starts it":   {vars{"id": flow, "webhook": vars{"body": vars{"a": 1}}, "answers": answers}, ""},
			"another company's":  {vars{"id": theirs}, "not_found"},
			"no such request":    {vars{"id": flow, "request": "req_0"}, "not_found"},
			"faulty":             {vars{"definition": vars{"phases": []vars{}}}, "validation_error"},
			"no such phase":      {vars{"id": flow, "answers": vars{"x": vars{}}}, "validation_error"},
			"answers are a text": {vars{"id": flow, "answers": "x"}, "validation_error"},
			"nothing":            {vars{}, "validation_error"},
		} {
			r := s.Send(t, apitest.Scenario{As: s.A.OwnerKey, Method: http.MethodPost, Path: "/v1/workflows/try", Body: c.in})
			g := s.Send(t, apitest.Scenario{As: s.A.OwnerKey, Method: http.MethodPost, Path: "/graphql", Body: vars{"query": trialOf, "variables": c.in}})
			if c.code != "" {
				require.Equal(t, c.code, r.Text("error"), "%s: %s", name, r.Body)
				require.Equal(t, c.code, g.Text("errors.0.extensions.code"), "%s: %s", name, g.Body)
				require.Equal(t, rowsOf(r, "details"), rowsOf(g, "errors.0.extensions.details"), name)
				continue
			}
			require.Equal(t, http.StatusOK, r.Status, "%s: %s", name, r.Body)
			require.False(t, g.Has("errors"), "%s: %s", name, g.Body)
			require.NotEmpty(t, r.Get("data.steps"), name)
			require.Equal(t, timeless(r.Get("data"), ""), timeless(g.Get("data.tryWorkflow"), ""), name)
		}
		require.Equal(t, before, s.Counts(t), "nothing is stored")
	})
}
