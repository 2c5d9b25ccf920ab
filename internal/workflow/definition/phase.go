package definition

import (
	"cmp"
	"slices"

	"atrium/internal/desk/sla"
)

const maxMinutes = 525_600 // a year

// phaseTypes lists the phase types as callers see them.
var phaseTypes = []string{
	string(Start), string(Process), string(Decision), string(Data), string(Timer), string(WebhookCallout),
	string(APICall), string(Approval), string(CallWorkflow), string(InParallel), string(ForEach), string(Join), string(End),
}

// phase reads one phase. Its id has been checked by phaseID.
func (c *checker) phase(f fields) *Phase {
	f.phaseKeys()
	asked := len(c.refs.Answers)
	participants, workers := c.participants(f)
	p := &Phase{
		path:          f.path,
		Type:          Type(f.oneOf("type", phaseTypes...)),
		Name:          f.str("name", 200),
		RequestAction: RequestAction(f.oneOf("requestAction", string(Accept), string(Complete), string(Cancel))),
		Participants:  participants,
		SLA:           c.sla(f),
	}
	if f.has("id") {
		p.ID, _ = c.str(f.at("id"), f.obj.values["id"])
	}
	before := len(c.rows)
	c.config(f, p)
	if len(c.rows) > before {
		p.rules.any = true // the ways out that a faulty config meant to name are unknown
	} else if p.Type != Process && (p.Data == nil || p.Data.OnInvalid != Ask) {
		c.refs.Idle = append(c.refs.Idle, workers...) // no fault: versions that were published before these were refused go on
	}
	for i := range c.refs.Answers[asked:] {
		c.refs.Answers[asked+i].Phase = cmp.Or(p.Name, p.ID)
	}
	return p
}

// config reads the settings of the phase's type and determines its ways out.
func (c *checker) config(f fields, p *Phase) {
	switch p.Type {
	case InParallel:
		p.Block = c.parallel(f)
		return
	case ForEach:
		p.Block = c.forEach(f)
		return
	case Join:
		p.leads = c.join(f)
		return
	}
	cfg, ok := f.object("config")
	if !ok {
		if f.has("config") {
			return
		}
		cfg = fields{c: c, path: f.at("config"), obj: &object{}}
	}
	switch p.Type {
	case Start:
		cfg.keys(nil)
		p.rules.must = []string{Next}
	case End:
		cfg.keys(nil)
	case Process:
		p.Process, p.rules = c.process(cfg)
	case Decision:
		p.Decision, p.rules = c.decision(cfg)
	case Data:
		p.Data, p.rules = c.data(cfg)
	case Timer:
		p.Timer, p.rules = c.timer(cfg)
	case WebhookCallout:
		p.Callout, p.rules = c.callout(cfg)
	case APICall:
		p.APICall, p.rules = c.apiCall(cfg)
	case Approval:
		p.Approval, p.rules = c.approval(cfg)
	case CallWorkflow:
		p.Calls, p.rules = c.callWorkflow(cfg)
	default: // the type has a row already
		p.rules.any = true
	}
}

// participants also returns the roles that only a task has an effect for.
func (c *checker) participants(f fields) (list []Participant, workers []Reference) {
	f.objects("participants", 0, maxEntries, func(_ int, one fields) {
		one.keys([]string{"role", "type"}, "id", "answer", "phaseId")
		role := one.oneOf("role", "responsible", "accountable", "consulted", "informed")
		p := one.who(role == "accountable", "user", "team", "agent")
		p.Role = role
		if p.Type == "agent" && p.Role == "accountable" {
			c.fault(one.at("type"), "May not be agent: a person or a team answers for a phase.")
		}
		if p.Type == "agent" && p.Role == "informed" {
			c.refs.Informed = append(c.refs.Informed, Reference{ID: p.ID, Field: one.at("id")})
		}
		if p.Role == "responsible" || p.Role == "consulted" && p.Type == "agent" {
			workers = append(workers, Reference{ID: p.Role, Field: one.at("role")})
		}
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	})
	return list, workers
}

// refer records that the definition names a user, team or agent.
func (c *checker) refer(kind, id, path string) {
	if id == "" {
		return
	}
	ref := Reference{ID: id, Field: path}
	switch kind {
	case "user":
		c.refs.Users = append(c.refs.Users, ref)
	case "team":
		c.refs.Teams = append(c.refs.Teams, ref)
	case "agent":
		c.refs.Agents = append(c.refs.Agents, ref)
	}
}

func (c *checker) sla(f fields) *SLA {
	one, ok := f.object("sla")
	if !ok {
		return nil
	}
	one.keys(nil, "responseMinutes", "resolutionMinutes", "warnAtPercent", "calendarId")
	levels := &SLA{
		ResponseMinutes:   one.whole("responseMinutes", 1, maxMinutes, 0),
		ResolutionMinutes: one.whole("resolutionMinutes", 1, maxMinutes, 0),
		WarnAtPercent:     one.whole("warnAtPercent", 0, 99, sla.UsualWarning),
		CalendarID:        one.calendar(),
	}
	if levels.CalendarID != "" {
		c.refs.Calendars[len(c.refs.Calendars)-1].Minutes = max(levels.ResponseMinutes, levels.ResolutionMinutes)
	}
	return levels
}

// calendar reads calendarId and records that the definition names that calendar.
func (f fields) calendar() string {
	id := f.str("calendarId", shownRunes)
	if id != "" {
		f.c.refs.Calendars = append(f.c.refs.Calendars, Reference{ID: id, Field: f.at("calendarId")})
	}
	return id
}
