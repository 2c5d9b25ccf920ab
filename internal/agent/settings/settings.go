package settings

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/agentaction"
	"atrium/ent/modelconnection"
	"atrium/ent/user"
	"atrium/internal/agent/tools"
	"atrium/internal/identity/access"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/strictjson"
)

// Tool is an operation that an agent may use, with its GraphQL name.
type Tool struct {
	Name string `json:"name" enum:"updateRequest,moveRequest,acceptRequest,declineRequest,createComment"`
	Mode string `json:"mode" enum:"auto,approve,off" doc:"auto leaves it to the agent's autonomy, approve waits for a person in any case, off refuses it."`
}

// The modes of tools.
const (
	modeAuto = "auto"
	Approve  = "approve"
	Off      = "off"
)

// DefaultTools are the tools of a new agent.
var DefaultTools = []Tool{{Name: tools.Update, Mode: modeAuto}, {Name: tools.Move, Mode: modeAuto}}

// messages lists the tools that send a message to somebody.
var messages = []string{tools.Comment, tools.Decline}

// Limits are the limits of a run, over all of its plans. Steps and minutes are for CUSTOM agents as well. A run that exceeds one is
// handed over.
type Limits struct {
	Steps      int `json:"steps,omitempty" minimum:"1" maximum:"50" doc:"What it looks at and decides; 8 when not given."`
	ModelCalls int `json:"modelCalls,omitempty" minimum:"1" maximum:"50" doc:"Calls of the model; 12 when not given."`
	Tokens     int `json:"tokens,omitempty" minimum:"1000" maximum:"1000000" doc:"Sent and answered, in all calls; 32000 when not given."`
	Minutes    int `json:"minutes,omitempty" minimum:"1" maximum:"60" doc:"That the model takes, in all calls, or a CUSTOM agent from its claim on; 10 when not given."`
}

// OrDefault returns the limits with defaults for those that are not set.
func (l Limits) OrDefault() Limits {
	return Limits{
		Steps: cmp.Or(l.Steps, maxSteps), ModelCalls: cmp.Or(l.ModelCalls, 12), Tokens: cmp.Or(l.Tokens, 32_000), Minutes: cmp.Or(l.Minutes, 10),
	}
}

// NoSteps is the reason of a run that has had its steps.
func (l Limits) NoSteps() string { return fmt.Sprintf("The run has had its %d steps.", l.Steps) }

// LimitsOf returns the limits of an agent's draft.
func LimitsOf(a *ent.Agent) (Limits, error) {
	var l Limits
	if len(a.Limits) > 0 {
		if err := json.Unmarshal(a.Limits, &l); err != nil {
			return l, fmt.Errorf("read the limits of %s: %w", a.ID, err)
		}
	}
	return l.OrDefault(), nil
}

// Settings hold everything that determines an agent's behaviour, of its draft or of a published version.
type Settings struct {
	Autonomy     string   `json:"autonomy"`
	OwnerID      string   `json:"ownerId"`
	Role         string   `json:"role"`
	Scopes       []string `json:"scopes"`
	Filter       string   `json:"filter"`
	Sees         string   `json:"sees"`
	Instructions string   `json:"instructions"`
	Engine       string   `json:"engine"`

	ModelConnectionID string `json:"modelConnectionId,omitempty"` // empty for the server's own model
	Model             string `json:"model,omitempty"`
	Limits            Limits `json:"limits"`

	Tools      []Tool `json:"tools"`
	RunsPerDay int    `json:"runsPerDay"`
	Shadow     bool   `json:"shadow"`

	Endpoint string `json:"-"` // in effect at once, and not part of a version
	Connects bool   `json:"-"` // the caller names the model connection, and must be able to see it
}

// ToolsOf returns the tools of an agent's draft.
func ToolsOf(a *ent.Agent) ([]*Tool, error) {
	return strictjson.List[Tool](a.Tools, "tools", a.ID)
}

// Mode returns the mode of a tool; off for a tool that is not listed.
func (s Settings) Mode(tool string) string {
	for _, t := range s.Tools {
		if t.Name == tool {
			return t.Mode
		}
	}
	return Off
}

// KindIn returns what a write becomes that is not done at once.
func (s Settings) KindIn(run *ent.AgentRun) agentaction.Kind {
	if s.Autonomy == string(agent.AutonomySUGGEST) || run.Shadow {
		return agentaction.KindPROPOSAL
	}
	return agentaction.KindACTION
}

// Check returns validation_error for invalid settings.
func (s Settings) Check(ctx context.Context, tx *op.Tx, typ, source string) error {
	var refs op.Refs
	switch {
	case s.Autonomy != string(agent.AutonomyAUTONOMOUS):
	case source == string(agent.SourceCUSTOM):
		refs.Fault("autonomy", "is not for an agent whose source is CUSTOM")
	case typ == string(agent.TypeWORKFLOW_PHASE):
		refs.Fault("autonomy", "is not for an agent of phases: no evaluation tries those")
	}
	if s.Endpoint != "" && source != string(agent.SourceCUSTOM) {
		refs.Fault("endpointUrl", "is for an agent whose source is CUSTOM")
	} else if s.Endpoint != "" {
		refs.Refused(tx.CheckURL("endpointUrl", s.Endpoint))
	}
	if err := s.checkModel(ctx, tx, source, &refs); err != nil {
		return err
	}
	own, err := principal.ParseScopes(s.Scopes)
	switch {
	case err != nil:
		refs.Fault("scopes", "names a scope that does not exist")
	case own&^tx.Principal().Scopes != 0:
		refs.Fault("scopes", "must not go beyond the caller's")
	}
	if s.Sees == string(agent.SeesAgent) {
		if open := s.ungated(); len(open) > 0 {
			refs.Fault("sees", "cannot be agent together with messages that nobody approves: "+strings.Join(open, ", "))
		}
	}
	seen := map[string]bool{}
	for _, t := range s.Tools {
		if seen[t.Name] {
			refs.Fault("tools", "names "+t.Name+" twice")
		}
		seen[t.Name] = true
	}
	owner, err := op.Share(tx, tx.User.Query().Where(user.ID(s.OwnerID))).Only(tx.Unfiltered(ctx, "who answers for an agent is there or not"))
	switch {
	case ent.IsNotFound(err):
		refs.Fault("ownerId", "is no user of the company")
	case err != nil:
		return fmt.Errorf("look the owner up: %w", err)
	case access.Gone(owner.Status):
		refs.Fault("ownerId", "is a user who was deactivated or erased")
	case owner.Role == user.RoleMember && s.Role != string(agent.RoleMember):
		refs.Fault("role", "must not go beyond the owner's")
	}
	return refs.Err()
}

// checkModel refuses an unknown model, an unknown connection, and a model for a CUSTOM agent.
func (s Settings) checkModel(ctx context.Context, tx *op.Tx, source string, refs *op.Refs) error {
	if s.Engine == string(agent.EngineModel) && source == string(agent.SourceCUSTOM) {
		refs.Fault("engine", "is for an agent whose source is MANAGED")
	}
	if s.ModelConnectionID == "" {
		if s.Model != "" {
			refs.Fault("model", "takes a modelConnectionId: the server's own model is its operator's choice")
		}
		return nil
	}
	if !s.Connects {
		ctx = tx.Unfiltered(ctx, "a connection is there or not")
	}
	c, err := tx.ModelConnection.Query().Where(modelconnection.ID(s.ModelConnectionID)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		refs.Fault("modelConnectionId", "is no model connection of the company")
		return nil
	case err != nil:
		return fmt.Errorf("look the model connection up: %w", err)
	case s.Model != "" && !slices.Contains(c.Models, s.Model):
		refs.Fault("model", "is none of the connection's")
	}
	return nil
}

// ungated returns the tools that send messages without an approval.
func (s Settings) ungated() []string {
	var out []string
	for _, t := range s.Tools {
		if t.Mode == modeAuto && slices.Contains(messages, t.Name) {
			out = append(out, t.Name)
		}
	}
	return out
}

const maxSteps = 8
