package definition

import "atrium/internal/desk/form"

// Participant is someone who has a part in a phase: somebody who is named, or whoever a rule stands for when the phase asks them.
type Participant struct {
	Role   string // responsible, accountable, consulted, informed
	Type   string // user, team, agent; or one of the rules
	ID     string // empty for a rule
	Answer string // of the rule FromAnswer: the key of the answer
	Phase  string // likewise: the id of the earlier task whose form asks for it; empty for the request's own form
	Said   string // likewise: what that task was answered, once an execution is there (Phase.Named)
}

// The rules that stand for somebody around the request of an execution.
const (
	Requester   = "requester"   // for whom the request is
	Assignee    = "assignee"    // who deals with it
	ServiceTeam = "serviceTeam" // the team that owns its service
	FromAnswer  = "answer"      // whom an answer of the request, or of an earlier task, names by id or by e-mail address
)

// ByRule reports whether a rule says who it is.
func (p Participant) ByRule() bool {
	switch p.Type {
	case Requester, Assignee, ServiceTeam, FromAnswer:
		return true
	}
	return false
}

// who reads who an entry of a list of people is: somebody of one of the types by id, or whoever a rule stands for. With decides the
// requester is refused, who would decide on their own request.
func (f fields) who(decides bool, types ...string) Participant {
	if decides && f.obj.values["type"] == Requester {
		f.c.fault(f.at("type"), "May not be requester: nobody decides on a request of their own.")
		return Participant{}
	}
	if !decides {
		types = append(types, Requester)
	}
	p := Participant{Type: f.oneOf("type", append(types, Assignee, ServiceTeam, FromAnswer)...)}
	switch {
	case !p.ByRule() && !f.has("id"):
		f.c.fault(f.at("id"), "Is required.")
	case !p.ByRule():
		p.ID = f.str("id", shownRunes)
		f.c.refer(p.Type, p.ID, f.at("id"))
	case f.has("id"):
		f.c.fault(f.at("id"), "Must not be given with the type %s, which says by itself who it is.", p.Type)
	}
	if p.Type != FromAnswer && f.has("phaseId") {
		f.c.fault(f.at("phaseId"), "Belongs to the type answer only.")
	} else if p.Type == FromAnswer {
		p.Phase = f.str("phaseId", 0)
	}
	switch {
	case p.Type != FromAnswer && f.has("answer"):
		f.c.fault(f.at("answer"), "Belongs to the type answer only.")
	case p.Type == FromAnswer && !f.has("answer"):
		f.c.fault(f.at("answer"), "Is required with the type answer.")
	case p.Type == FromAnswer:
		if p.Answer = f.str("answer", form.MaxKeyLength); p.Answer == "" {
			break
		}
		if f.has("phaseId") {
			f.c.told = append(f.c.told, told{p.Phase, p.Answer, f})
		} else {
			f.c.refs.Answers = append(f.c.refs.Answers, Reference{ID: p.Answer, Field: f.at("answer")})
		}
	}
	return p
}
