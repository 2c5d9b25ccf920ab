package rest

import "atrium/ent"

// Service is a service as answers show it.
type Service struct {
	ID             string            `json:"id" example:"svc_01k9ye4ryzf7stj6dqnm8x2v3b"`
	Name           string            `json:"name" example:"Workplace IT"`
	Slug           string            `json:"slug" doc:"Unique in the company." example:"workplace-it"`
	Description    *string           `json:"description" example:"Devices, accounts and access"`
	Status         string            `json:"status" enum:"draft,active,archived" example:"active"`
	OwnerTeamID    *string           `json:"ownerTeamId" example:"team_01k9ye4ryzf7stj6dqnm8x2v3b"`
	OrganizationID *string           `json:"organizationId" example:"org_01k9ye4ryzf7stj6dqnm8x2v3b"`
	Tags           map[string]string `json:"tags" example:"{\"site\": \"berlin\"}"`
	CreatedAt      Time              `json:"createdAt"`
	UpdatedAt      Time              `json:"updatedAt"`
}

func serviceOut(s *ent.Service) Service {
	return Service{
		ID: s.ID, Name: s.Name, Slug: s.Slug, Description: textOrNil(s.Description), Status: string(s.Status),
		OwnerTeamID: s.OwnerTeamID, OrganizationID: s.OrganizationID, Tags: tagsOut(s.Tags),
		CreatedAt: at(s.CreatedAt), UpdatedAt: at(s.UpdatedAt),
	}
}

// tagsOut returns {} for no tags.
func tagsOut(tags map[string]string) map[string]string {
	if tags == nil {
		return map[string]string{}
	}
	return tags
}
