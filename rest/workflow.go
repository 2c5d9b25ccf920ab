package rest

import (
	"atrium/ent"
	"atrium/internal/workflow"
)

// WorkflowVersion is a published version as answers show it.
type WorkflowVersion struct {
	Version     int    `json:"version" doc:"Counts from 1." example:"1"`
	Definition  Object `json:"definition" doc:"As it was sent." example:"{\"phases\": [{\"id\": \"start\", \"type\": \"START\"}, {\"id\": \"end\", \"type\": \"END\"}], \"transitions\": [{\"from\": \"start\", \"name\": \"next\", \"to\": \"end\"}]}"`
	PublishedAt Time   `json:"publishedAt"`
	PublishedBy string `json:"publishedBy" example:"usr_01k9ye4ryzf7stj6dqnm8x2v3b" doc:"The user or service account; system for what was published before this was noted."`
}

func workflowVersionOut(v *ent.WorkflowVersion) WorkflowVersion {
	return WorkflowVersion{
		Version: v.Version, Definition: objectOut(workflow.AsSent(v.Definition)), PublishedAt: at(v.PublishedAt), PublishedBy: v.PublishedBy,
	}
}

// VersionDiff lists the differences between two versions.
type VersionDiff struct {
	From    int                `json:"from" doc:"0 where nothing was published before." example:"1"`
	To      int                `json:"to" example:"2"`
	Changes []DefinitionChange `json:"changes" doc:"Ordered by path. The order of phases, transitions and keys says nothing and is no change."`
}

// DefinitionChange is one difference.
type DefinitionChange struct {
	Path string   `json:"path" doc:"A key of a phase, a whole phase, or a transition: definition.phases[review].config.title, definition.phases[review], definition.transitions[review.approved]." example:"definition.phases[review].config.title"`
	From AnyValue `json:"from" doc:"null for what was added; a transition's value is where it leads." example:"\"Review\""`
	To   AnyValue `json:"to" doc:"null for what was removed." example:"\"Review the order\""`
}

func versionDiffOut(d workflow.VersionDiff) VersionDiff {
	out := VersionDiff{From: d.From, To: d.To, Changes: make([]DefinitionChange, len(d.Changes))}
	for i, c := range d.Changes {
		out.Changes[i] = DefinitionChange{Path: c.Path, From: AnyValue(c.From), To: AnyValue(c.To)}
	}
	return out
}

func workflowDefinitionOut(w *ent.Workflow) Object { return objectOut(workflow.AsSent(w.Definition)) }
