package definition

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// asking makes a definition s → ask → p → later → e, whose task ask asks for a lead and an amount, and whose approval p is decided by
// approvers.
func asking(approvers string) string {
	phases := `"phases":[{"id":"ask","type":"PROCESS","config":{"form":{"fields":[{"key":"lead","type":"user"},{"key":"amount","type":"number"}]}}},` +
		`{"id":"later","type":"PROCESS","config":{"form":{"fields":[{"key":"lead","type":"user"}]}}},` +
		`{"id":"p","type":"APPROVAL","name":"Approve it","config":{"approvers":[` + approvers + `],"mode":"any"}},`
	return strings.Replace(graphOf("s>ask ask>p p>later:approved p>e:rejected later>e"), `"phases":[`, phases, 1)
}

// An earlier task's form may ask for the person who takes part in a later phase. Such a person is no answer of the request.
func TestParticipantsByAnEarlierTask(t *testing.T) {
	t.Parallel()
	d := accepted(t, asking(`{"type":"answer","answer":"lead","phaseId":"ask"}`))
	require.Equal(t, []Approver{{Type: "answer", Answer: "lead", Phase: "ask"}}, d.Phase("p").Approval.Approvers)
	require.Empty(t, d.References().Answers)
	p := d.Phase("p")
	require.True(t, p.AsksTasks())
	named := p.Named(func() map[string]any { return map[string]any{"ask": map[string]any{"lead": "ada@a.test"}} })
	require.Equal(t, "ada@a.test", named.Approval.Approvers[0].Said)
	require.Empty(t, p.Approval.Approvers[0].Said, "the definition stays as it was")
	require.Empty(t, p.Named(func() map[string]any { return nil }).Approval.Approvers[0].Said)
	plain := accepted(t, approvedBy(`{"type":"assignee"}`)).Phase("p")
	require.Same(t, plain, plain.Named(func() map[string]any { panic("nobody asks for them") }))
}

func TestParticipantsByAnEarlierTaskThatMakeNoSense(t *testing.T) {
	t.Parallel()
	const at = "definition.phases[p].config.approvers[0]"
	refused(t, asking, []fault{
		{"a phase beside somebody who is named", `{"type":"user","id":"u","phaseId":"ask"}`, []string{at + `.phaseId: Belongs to the type answer only.`}},
		{"no phase", `{"type":"answer","answer":"lead","phaseId":"none"}`, []string{at + `.phaseId: No phase has the id "none".`}},
		{"no task", `{"type":"answer","answer":"lead","phaseId":"s"}`, []string{at + `.phaseId: The phase "s" is no task, so nobody answers a form in it.`}},
		{"a later task", `{"type":"answer","answer":"lead","phaseId":"later"}`, []string{at + `.phaseId: The phase "later" cannot come before this one.`}},
		{"no question", `{"type":"answer","answer":"boss","phaseId":"ask"}`, []string{at + `.answer: The form of the phase "ask" has no question "boss".`}},
		{"a number", `{"type":"answer","answer":"amount","phaseId":"ask"}`, []string{
			at + `.answer: The question "amount" of the phase "ask" is of the type number, which names no person: it takes one of the type user or email.`,
		}},
	})
}

// What a task is answered for each item of a list names people for that item, and nobody behind the block.
func TestParticipantsByATaskForEachItem(t *testing.T) {
	t.Parallel()
	of := func(inner, outer string) string {
		return `{"phases":[{"id":"s","type":"START"},{"id":"each","type":"FOR_EACH","in":"[1, 2]","as":"n","start":"ask","end":"join"},` +
			`{"id":"ask","type":"PROCESS","config":{"form":{"fields":[{"key":"lead","type":"user"}]}}},` +
			`{"id":"check","type":"PROCESS","participants":[` + inner + `]},{"id":"join","type":"JOIN","next":"sum"},` +
			`{"id":"sum","type":"PROCESS","participants":[` + outer + `]},{"id":"e","type":"END"}],` +
			`"transitions":[{"from":"s","name":"next","to":"each"},{"from":"ask","name":"next","to":"check"},{"from":"check","name":"next","to":"join"},{"from":"sum","name":"next","to":"e"}]}`
	}
	const lead = `{"role":"responsible","type":"answer","answer":"lead","phaseId":"ask"}`
	accepted(t, of(lead, ""))
	refused(t, func(outer string) string { return of("", outer) }, []fault{{"behind the block", lead, []string{
		`definition.phases[sum].participants[0].phaseId: The phase "ask" is done for each item of "each", so it has no single answer here.`,
	}}})
}

// What a published definition asks of requests is read without compiling it.
func TestAskedOf(t *testing.T) {
	t.Parallel()
	list, err := AskedOf([]byte(asking(`{"type":"answer","answer":"lead","phaseId":"ask"},{"type":"answer","answer":"boss"},{"type":"user","id":"u"}`)))
	require.NoError(t, err)
	require.Equal(t, []Asked{{"Approve it", "boss"}}, list)
}
