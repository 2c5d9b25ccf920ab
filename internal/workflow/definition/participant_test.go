package definition

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// takingPart makes a definition s → p → e, of which p is a PROCESS with one participant.
func takingPart(participant string) string {
	return strings.Replace(graphOf("s>p p>e"), `"phases":[`, fmt.Sprintf(`"phases":[{"id":"p","type":"PROCESS","participants":[%s]},`, participant), 1)
}

// approvedBy makes a definition s → p → e, of which p is an APPROVAL with these approvers.
func approvedBy(approvers string) string {
	p := fmt.Sprintf(`"phases":[{"id":"p","type":"APPROVAL","config":{"approvers":[%s],"mode":"any"}},`, approvers)
	return strings.Replace(graphOf("s>p p>e:approved p>e:rejected"), `"phases":[`, p, 1)
}

func TestParticipantsByRule(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"requester", "assignee", "serviceTeam"} {
		d := accepted(t, takingPart(`{"role":"responsible","type":"`+kind+`"}`))
		require.Equal(t, []Participant{{Role: "responsible", Type: kind}}, d.Phase("p").Participants)
	}
	d := accepted(t, takingPart(`{"role":"informed","type":"answer","answer":"manager","id":null}`))
	require.Equal(t, []Participant{{Role: "informed", Type: "answer", Answer: "manager"}}, d.Phase("p").Participants)
	require.Equal(t, []Reference{{ID: "manager", Field: "definition.phases[p].participants[0].answer", Phase: "p"}}, d.References().Answers)
	d = accepted(t, approvedBy(`{"type":"assignee"},{"type":"serviceTeam"},{"type":"answer","answer":"a"},{"type":"answer","answer":"b"}`))
	require.Equal(t, []Approver{{Type: "assignee"}, {Type: "serviceTeam"}, {Type: "answer", Answer: "a"}, {Type: "answer", Answer: "b"}}, d.Phase("p").Approval.Approvers)
}

func TestParticipantsByRuleThatMakeNoSense(t *testing.T) {
	t.Parallel()
	const at = "definition.phases[p].participants[0]"
	refused(t, takingPart, []fault{
		{"an id beside a rule", `{"role":"informed","type":"assignee","id":"u"}`, []string{at + `.id: Must not be given with the type assignee, which says by itself who it is.`}},
		{"an answer of no key", `{"role":"informed","type":"answer"}`, []string{at + `.answer: Is required with the type answer.`}},
		{"the answer of somebody who is named", `{"role":"informed","type":"user","id":"u","answer":"a"}`, []string{at + `.answer: Belongs to the type answer only.`}},
		{"nobody", `{"role":"informed","type":"user"}`, []string{at + `.id: Is required.`}},
		{"the requester to sign off", `{"role":"accountable","type":"requester"}`, []string{at + `.type: May not be requester: nobody decides on a request of their own.`}},
	})
	const approver = "definition.phases[p].config.approvers"
	refused(t, approvedBy, []fault{
		{"the requester", `{"type":"requester"}`, []string{approver + `[0].type: May not be requester: nobody decides on a request of their own.`}},
		{"the same rule twice", `{"type":"assignee"},{"type":"assignee"}`, []string{approver + `[1].type: Is an approver already.`}},
		{"an agent", `{"type":"agent","id":"a"}`, []string{approver + `[0].type: Must be one of user, team, assignee, serviceTeam, answer.`}},
	})
}
