package trial

import (
	"slices"

	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

// branchOf returns the branch of a visit; nil outside of blocks.
func branchOf(v engine.Visit) *string {
	if v.Branch == "" {
		return nil
	}
	return &v.Branch
}

func (t *trial) askTask(e engine.OpenTask) {
	asked := &Ask{Kind: AskTask, Title: e.Title, DueAt: e.DueAt, Who: t.people(t.now.Worker(e.Phase), "responsible"), Outcomes: e.Phase.Ways()}
	if e.Correct != nil {
		asked.Kind, asked.Outcomes = AskCorrection, []string{}
	}
	t.ask(e.Visit, &waiting{asked: asked})
}

func (t *trial) askApproval(e engine.OpenApproval) {
	c := t.now.Approvers(e.Phase, e.SignOff)
	var list []definition.Participant
	for _, one := range c.Approvers {
		list = append(list, definition.Participant{Type: one.Type, ID: one.ID})
	}
	before := t.waits[e.Visit]
	w := &waiting{approvers: c, asked: &Ask{
		Kind: AskApproval, Title: e.Phase.Title(), DueAt: e.ExpiresAt, Who: t.people(list, "approver"), Mode: new(string(c.Mode)),
		Sequential: c.Order == definition.Sequential, Outcomes: []string{approve, reject},
	}}
	switch {
	case e.SignOff: // the answer to the task says what becomes of it
		w.answer = before.answer
		w.asked.Kind, w.asked.Who = AskSignOff, t.people(list, "accountable")
		if w.answer.signOff != "" {
			w.asked.Answer, w.asked.Source = before.asked.Answer, before.asked.Source
		}
	case e.ExpiresAt != nil:
		w.asked.Outcomes = append(w.asked.Outcomes, expire)
	}
	if c.Mode == definition.Quorum {
		w.asked.Quorum = &c.Quorum
	}
	t.ask(e.Visit, w)
}

func (t *trial) ask(visit int, w *waiting) {
	t.waits[visit] = w
	t.steps[visit].Asks = append(t.steps[visit].Asks, w.asked)
}

// people returns participants for the result, in a role if they have none.
func (t *trial) people(list []definition.Participant, role string) []*Participant {
	out := []*Participant{}
	for _, one := range list {
		p := &Participant{Role: one.Role, Type: one.Type, ID: one.ID}
		if role != "" {
			p.Role = role
		}
		out = append(out, p)
	}
	t.who = slices.Concat(t.who, out)
	return out
}
