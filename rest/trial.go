package rest

import (
	"encoding/json"

	"atrium/internal/workflow/engine"
	"atrium/internal/workflow/trial"
)

// WorkflowTrial is what a workflow would do.
type WorkflowTrial struct {
	Status    string          `json:"status" enum:"RUNNING,WAITING,COMPLETED,FAILED,CANCELLED" doc:"Where the execution would be in its life."`
	Steps     []TrialStep     `json:"steps" doc:"The phases that it would enter, in order."`
	Stopped   *TrialStop      `json:"stopped" doc:"Where and why the trial stopped before the execution ended; null when the execution ended."`
	Variables Object          `json:"variables" doc:"What expressions read in the end: request, webhook and phases; secrets are masked." example:"{\"request\": {\"title\": \"Trial\"}, \"webhook\": null, \"phases\": {\"price\": {\"cents\": 90000}}}"`
	Error     *ExecutionError `json:"error" doc:"Why the execution would fail, or what somebody would have to look at before it goes on."`
}

// TrialStop says where and why a trial stopped.
type TrialStop struct {
	PhaseID string  `json:"phaseId" example:"review"`
	Reason  string  `json:"reason" enum:"ANSWER,UNTIL,INCIDENT,LIMIT" doc:"ANSWER: it has no answer to what the phase asks. UNTIL: it was to stop there. INCIDENT: the execution would wait for somebody to resolve one. LIMIT: it has taken as many steps, as much time or as many bytes as a trial may."`
	Answer  *string `json:"answer" doc:"What to give to go on; null for other reasons than ANSWER." example:"answers.review"`
	Message string  `json:"message" example:"The trial needs an answer to go on: answers.review."`
}

// TrialStep is one entry into a phase.
type TrialStep struct {
	PhaseID       string             `json:"phaseId" example:"review"`
	Name          string             `json:"name" doc:"What people call the phase." example:"Review it"`
	Type          string             `json:"type" enum:"START,PROCESS,DECISION,DATA,TIMER,WEBHOOK_CALLOUT,API_CALL,APPROVAL,CALL_WORKFLOW,PARALLEL,FOR_EACH,JOIN,END"`
	Branch        *string            `json:"branch" doc:"The branch of a block in which it is, with those around it, as in Access / 3; null outside of blocks." exampleNull:"true"`
	Status        string             `json:"status" enum:"RUNNING,WAITING,COMPLETED,SKIPPED,FAILED"`
	StartedAt     Time               `json:"startedAt" doc:"By the trial's clock, in which timers and deadlines pass at once."`
	FinishedAt    *Time              `json:"finishedAt"`
	Transition    *string            `json:"transition" doc:"The way out that it takes." example:"next"`
	To            *string            `json:"to" doc:"The phase to which that leads." example:"order"`
	Attempts      int                `json:"attempts" example:"1"`
	Input         Object             `json:"input" doc:"What it is given, as the history would show it; secrets are masked." example:"{\"title\": \"Review it\"}"`
	Output        Object             `json:"output" doc:"What it leaves behind, as the history would show it; secrets are masked." example:"{\"outcome\": \"next\"}"`
	Error         *ExecutionError    `json:"error"`
	Rules         []TrialRule        `json:"rules" doc:"The rules of a DECISION that were looked at, up to the one that decides. When none holds, the phase takes its default."`
	Asks          []TrialAsk         `json:"asks" doc:"Who would be asked, each time that the phase asks."`
	Calls         []TrialCall        `json:"calls" doc:"What would be sent, each time that the phase calls."`
	Told          []TrialParticipant `json:"told" doc:"Who would be told that the phase was entered (consulted) or left (informed)."`
	RequestStatus *string            `json:"requestStatus" enum:"PENDING,IN_PROGRESS,COMPLETED,CANCELLED" doc:"The status that the phase would give the request; null when it changes none."`
}

// TrialRule is a rule of a DECISION and what it gives.
type TrialRule struct {
	When       string  `json:"when" example:"request.fields.amount > 1000"`
	Transition string  `json:"transition" example:"board"`
	Holds      *bool   `json:"holds" doc:"Null when it cannot be evaluated." example:"true"`
	Error      *string `json:"error" doc:"Why it cannot be evaluated." exampleNull:"true"`
}

// TrialAsk is what a phase asks people.
type TrialAsk struct {
	Kind       string             `json:"kind" enum:"TASK,CORRECTION,APPROVAL,SIGN_OFF"`
	Title      string             `json:"title" example:"Review it"`
	DueAt      *Time              `json:"dueAt" doc:"When the task is due, or the approval expires."`
	Who        []TrialParticipant `json:"who" doc:"Who gets the task, or who decides. Everybody who works requests sees a task that nobody gets."`
	Mode       *string            `json:"mode" enum:"any,all,quorum" doc:"Whose decisions settle an approval; null for tasks."`
	Quorum     *int               `json:"quorum" doc:"How many must approve, with the mode quorum." exampleNull:"true"`
	Sequential bool               `json:"sequential" doc:"Whether approvers decide one after the other."`
	Outcomes   []string           `json:"outcomes" doc:"The possible answers: outcomes of a task; APPROVE, REJECT and EXPIRE of an approval." example:"[\"next\"]"`
	Answer     *Object            `json:"answer" doc:"What was answered; null where the trial stopped for want of it." example:"{\"outcome\": \"next\"}"`
	Source     *string            `json:"source" enum:"GIVEN,LAST" doc:"Where the answer comes from: the caller, or the last execution of the workflow that got one there."`
}

// TrialParticipant is somebody who takes part in a phase.
type TrialParticipant struct {
	Role string  `json:"role" enum:"responsible,accountable,consulted,informed,approver"`
	Type string  `json:"type" enum:"user,team,agent,requester,assignee,serviceTeam,answer" doc:"A rule where the sample does not say for whom it stands."`
	ID   string  `json:"id" doc:"Of a rule its type, or the key of the answer." example:"usr_01k9ye4ryzf7stj6dqnm8x2v3b"`
	Name *string `json:"name" doc:"Null for one that the caller does not see." example:"Ada Lovelace"`
}

// TrialCall is a call of another server that would be made.
type TrialCall struct {
	Attempt int     `json:"attempt" doc:"Counts from 1 in the visit." example:"1"`
	At      Time    `json:"at" doc:"When it would be made."`
	Sent    Object  `json:"sent" doc:"What would be sent: method, url, headers and body of an API_CALL; method, url, event and data of a WEBHOOK_CALLOUT. Secrets are masked." example:"{\"method\": \"GET\", \"url\": \"https://api.example.com/prices\", \"headers\": {\"Authorization\": \"Bearer ***\"}}"`
	Answer  *Object `json:"answer" doc:"What was answered; null where the trial stopped for want of it." example:"{\"status\": 200}"`
	Source  *string `json:"source" enum:"GIVEN,LAST"`
}

func workflowTrialOut(r *trial.Result) WorkflowTrial {
	out := WorkflowTrial{Status: r.Status, Steps: each(r.Steps, trialStepOut), Variables: objectOut(r.Variables), Error: faultOut(r.Error)}
	if r.Stopped != nil {
		stopped := TrialStop(*r.Stopped)
		out.Stopped = &stopped
	}
	return out
}

func trialStepOut(s *trial.Step) TrialStep {
	return TrialStep{
		PhaseID: s.PhaseID, Name: s.Name, Type: s.Type, Branch: s.Branch, Status: s.Status, StartedAt: at(s.StartedAt), FinishedAt: atOrNil(s.FinishedAt),
		Transition: s.Transition, To: s.To, Attempts: s.Attempts, Input: objectOut(s.Input), Output: objectOut(s.Output), Error: faultOut(s.Error),
		Rules: each(s.Rules, func(r *trial.Rule) TrialRule { return TrialRule(*r) }), Asks: each(s.Asks, trialAskOut), Calls: each(s.Calls, trialCallOut),
		Told: each(s.Told, trialParticipantOut), RequestStatus: s.RequestStatus,
	}
}

func trialAskOut(a *trial.Ask) TrialAsk {
	return TrialAsk{
		Kind: a.Kind, Title: a.Title, DueAt: atOrNil(a.DueAt), Who: each(a.Who, trialParticipantOut), Mode: a.Mode, Quorum: a.Quorum,
		Sequential: a.Sequential, Outcomes: a.Outcomes, Answer: objectOrNil(a.Answer), Source: a.Source,
	}
}

func trialCallOut(c *trial.Call) TrialCall {
	return TrialCall{Attempt: c.Attempt, At: at(c.At), Sent: objectOut(c.Sent), Answer: objectOrNil(c.Answer), Source: c.Source}
}

func trialParticipantOut(p *trial.Participant) TrialParticipant { return TrialParticipant(*p) }

// objectOrNil is objectOut where no object is null.
func objectOrNil(raw json.RawMessage) *Object {
	if len(raw) == 0 {
		return nil
	}
	o := Object(raw)
	return &o
}

func faultOut(f *engine.Fault) *ExecutionError {
	if f == nil {
		return nil
	}
	e := ExecutionError(*f)
	return &e
}

func each[T, Body any](rows []T, out func(T) Body) []Body {
	list := make([]Body, len(rows))
	for i, r := range rows {
		list[i] = out(r)
	}
	return list
}
