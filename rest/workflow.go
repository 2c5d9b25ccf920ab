package rest

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"atrium/ent"
	"atrium/internal/workflow"
)

// Workflow is a workflow as answers show it.
type Workflow struct {
	ID          string             `json:"id"`
	Name        string             `json:"name"`
	Slug        string             `json:"slug" doc:"Unique in the company."`
	Description *string            `json:"description"`
	Status      string             `json:"status" enum:"draft,active,archived"`
	Version     int                `json:"version" doc:"Of the last published definition; 0 before the first."`
	Definition  WorkflowDefinition `json:"definition" doc:"The draft, as it was sent."`
	CreatedAt   Time               `json:"createdAt"`
	UpdatedAt   Time               `json:"updatedAt"`
}

// WorkflowDefinition is the JSON text of a definition.
type WorkflowDefinition json.RawMessage

// MarshalJSON returns the text.
func (d WorkflowDefinition) MarshalJSON() ([]byte, error) { return json.RawMessage(d).MarshalJSON() }

// Schema tells the OpenAPI document that a definition is an object.
func (WorkflowDefinition) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

func workflowOut(w *ent.Workflow) Workflow {
	return Workflow{
		ID: w.ID, Name: w.Name, Slug: w.Slug, Description: textOrNil(w.Description), Status: string(w.Status), Version: w.Version,
		Definition: WorkflowDefinition(workflow.AsSent(w.Definition)), CreatedAt: at(w.CreatedAt), UpdatedAt: at(w.UpdatedAt),
	}
}
