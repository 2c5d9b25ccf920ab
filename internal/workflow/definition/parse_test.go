package definition

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhole(t *testing.T) {
	t.Parallel()
	const ok = `[{"id":"s","type":"START"},{"id":"e","type":"END"}]`
	const joined = `[{"from":"s","name":"next","to":"e"}]`
	refused(t, asIs, []fault{
		{"nothing", ``, []string{"definition: The definition cannot be read: malformed JSON."}},
		{"no JSON", `{"phases":[}`, []string{"definition: The definition cannot be read: malformed JSON at byte 11."}},
		{"more after it", `{} {}`, []string{"definition: The definition cannot be read: something follows after the value."}},
		{"not UTF-8", "{\"\xff\":1}", []string{"definition: The definition cannot be read: it is not valid UTF-8."}},
		{"a key twice", `{"phases":[],"phases":[]}`, []string{`definition: The definition cannot be read: the key "phases" stands twice in one object.`}},
		{"too deep", strings.Repeat("[", 200) + strings.Repeat("]", 200), []string{"definition: The definition cannot be read: it is nested deeper than 100 levels."}},
		{"beyond a double", `{"phases":1e999}`, []string{"definition: The definition cannot be read: a number is too large."}},
		{"too large", strings.Repeat(" ", MaxBytes) + "{}", []string{"definition: A definition may be at most 256 KiB."}},
		{"null", `null`, []string{"definition: Must be an object, not null."}},
		{"a list", `[]`, []string{"definition: Must be an object, not a list."}},
		{"empty", `{}`, []string{"definition.phases: Is required.", "definition.transitions: Is required."}},
		{"wrong types", `{"phases":{},"transitions":"x"}`, []string{
			"definition.phases: Must be a list, not an object.",
			"definition.transitions: Must be a list, not a string.",
		}},
		{"an unknown key", `{"phases":` + ok + `,"transitions":` + joined + `,"color":1}`, []string{`definition.color: Is not a known field.`}},
		{"another case", `{"Phases":` + ok + `,"transitions":` + joined + `}`, []string{
			`definition.Phases: Is not a known field.`, "definition.phases: Is required.",
		}},
		{"a long key", `{"phases":` + ok + `,"transitions":` + joined + `,"` + strings.Repeat("k", 100) + `":1}`, []string{
			"definition." + strings.Repeat("k", 63) + `…: Is not a known field.`,
		}},
		{"no phases", `{"phases":[],"transitions":[]}`, []string{
			"definition: There must be one phase of the type START.", "definition: There must be at least one phase of the type END.",
		}},
		{"201 phases", `{"phases":[` + strings.Repeat(`1,`, 200) + `1],"transitions":[]}`, []string{
			"definition.phases: May hold at most 200 entries.",
		}},
		{"1001 transitions", `{"phases":` + ok + `,"transitions":[` + strings.Repeat(`1,`, 1000) + `1]}`, []string{
			"definition.transitions: May hold at most 1000 entries.",
		}},
		{"phases and transitions that are none", `{"phases":[7,{"id":"s","type":"START"},{"id":"e","type":"END"}],"transitions":[null,{"from":"s","name":"next","to":"e"}]}`, []string{
			"definition.phases[0]: Must be an object, not a number.",
			"definition.transitions[0]: Must be an object, not null.",
		}},
	})
}

func TestPhaseKeys(t *testing.T) {
	t.Parallel()
	wrap := func(keys string) string { return phase(keys, "next") }
	refused(t, wrap, []fault{
		{"no type", `"name":"x"`, []string{"definition.phases[p].type: Is required."}},
		{"unknown type", `"type":"MAGIC"`, []string{"definition.phases[p].type: Must be one of START, PROCESS, DECISION, DATA, TIMER, WEBHOOK_CALLOUT, API_CALL, APPROVAL, CALL_WORKFLOW, PARALLEL, FOR_EACH, JOIN, END."}},
		{"type of another type", `"type":7`, []string{"definition.phases[p].type: Must be a string, not a number."}},
		{"unknown key", `"type":"PROCESS","colour":1`, []string{`definition.phases[p].colour: Is not a known field.`}},
		{"name", `"type":"PROCESS","name":" "`, []string{"definition.phases[p].name: Must not be empty."}},
		{"long name", `"type":"PROCESS","name":"` + strings.Repeat("é", 201) + `"`, []string{"definition.phases[p].name: May be at most 200 characters long."}},
		{"control characters", `"type":"PROCESS","name":"a\u0000b"`, []string{"definition.phases[p].name: Must not hold control characters."}},
		{"config", `"type":"PROCESS","config":[]`, []string{"definition.phases[p].config: Must be an object, not a list."}},
		{"requestAction", `"type":"PROCESS","requestAction":"reopen"`, []string{"definition.phases[p].requestAction: Must be one of accept, complete, cancel."}},
		{"participants", `"type":"PROCESS","participants":{}`, []string{"definition.phases[p].participants: Must be a list, not an object."}},
		{"participant's keys", `"type":"PROCESS","participants":[{"role":"owner","type":"robot","x":1}]`, []string{
			`definition.phases[p].participants[0].x: Is not a known field.`,
			"definition.phases[p].participants[0].role: Must be one of responsible, accountable, consulted, informed.",
			"definition.phases[p].participants[0].type: Must be one of user, team, agent, requester, assignee, serviceTeam, answer.",
			"definition.phases[p].participants[0].id: Is required.",
		}},
		{"a participant that is none", `"type":"PROCESS","participants":["usr_1"]`, []string{"definition.phases[p].participants[0]: Must be an object, not a string."}},
		{"sla", `"type":"PROCESS","sla":{"responseMinutes":0,"resolutionMinutes":525601,"warnAtPercent":100,"calendarId":5,"x":1}`, []string{
			`definition.phases[p].sla.x: Is not a known field.`,
			"definition.phases[p].sla.responseMinutes: Must be a whole number from 1 to 525600.",
			"definition.phases[p].sla.resolutionMinutes: Must be a whole number from 1 to 525600.",
			"definition.phases[p].sla.warnAtPercent: Must be a whole number from 0 to 99.",
			"definition.phases[p].sla.calendarId: Must be a string, not a number.",
		}},
		{"half a minute", `"type":"PROCESS","sla":{"responseMinutes":0.5}`, []string{"definition.phases[p].sla.responseMinutes: Must be a whole number from 1 to 525600."}},
		{"minutes as text", `"type":"PROCESS","sla":{"responseMinutes":"5"}`, []string{"definition.phases[p].sla.responseMinutes: Must be a whole number, not a string."}},
	})
}

func TestStartAndEndTakeNoConfig(t *testing.T) {
	t.Parallel()
	refused(t, asIs, []fault{{"config",
		`{"phases":[{"id":"s","type":"START","config":{"a":1}},{"id":"e","type":"END","config":{"b":1}}],"transitions":[{"from":"s","name":"next","to":"e"}]}`,
		[]string{
			`definition.phases[s].config.a: Is not a known field.`,
			`definition.phases[e].config.b: Is not a known field.`,
		},
	}})
}

func TestIDs(t *testing.T) {
	t.Parallel()
	wrap := func(id string) string {
		return `{"phases":[{"id":"s","type":"START"},{"id":` + id + `,"type":"PROCESS"},{"id":"e","type":"END"}],"transitions":[{"from":"s","name":"next","to":` + id + `},{"from":` + id + `,"name":"next","to":"e"}]}`
	}
	const rule = " is not usable: it takes a lower-case letter, then up to 62 of a-z, 0-9 and _."
	refused(t, wrap, []fault{
		{"upper case", `"Review"`, []string{`definition.phases[1].id: The id "Review"` + rule}},
		{"a digit first", `"1a"`, []string{`definition.phases[1].id: The id "1a"` + rule}},
		{"a dash", `"a-b"`, []string{`definition.phases[1].id: The id "a-b"` + rule}},
		{"64 characters", `"` + strings.Repeat("a", 64) + `"`, []string{`definition.phases[1].id: The id "` + strings.Repeat("a", 64) + `"` + rule}},
		{"a line break", `"a\n"`, []string{`definition.phases[1].id: The id "a\n"` + rule}},
	})
	t.Run("63 characters", func(t *testing.T) {
		t.Parallel()
		id := strings.Repeat("a", 63)
		require.NotNil(t, accepted(t, wrap(`"`+id+`"`)).Phase(id))
	})
	refused(t, asIs, []fault{
		{"twice", graphOf("s>p p>e", "p", "p"), []string{`definition.phases[p].id: The id "p" stands at more than one phase.`}},
		{"none", `{"phases":[{"id":"s","type":"START"},{"type":"PROCESS"},{"id":"e","type":"END"}],"transitions":[{"from":"s","name":"next","to":"e"}]}`, []string{"definition.phases[1].id: Is required."}},
		{"a number", `{"phases":[{"id":"s","type":"START"},{"id":3,"type":"PROCESS","config":{"x":1}},{"id":"e","type":"END"}],"transitions":[{"from":"s","name":"next","to":"e"}]}`, []string{
			"definition.phases[1].id: Must be a string, not a number.",
			`definition.phases[1].config.x: Is not a known field.`,
		}},
	})
}

func TestRowsAreBounded(t *testing.T) {
	t.Parallel()
	var keys []string
	for i := range 2 * maxRows {
		keys = append(keys, fmt.Sprintf(`"k%d":1`, i))
	}
	_, rows := Parse([]byte("{" + strings.Join(keys, ",") + "}"))
	require.Len(t, rows, maxRows+1)
	require.Equal(t, "There are more faults than are listed here.", rows[maxRows].Message)
}
