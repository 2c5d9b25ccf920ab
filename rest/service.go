package rest

import "atrium/ent"

// Service is a service as answers show it.
type Service struct {
	ID             string            `json:"id"`
	Name           string            `json:"name"`
	Slug           string            `json:"slug" doc:"Unique in the company."`
	Description    *string           `json:"description"`
	Status         string            `json:"status" enum:"draft,active,archived"`
	OwnerTeamID    *string           `json:"ownerTeamId"`
	OrganizationID *string           `json:"organizationId"`
	Tags           map[string]string `json:"tags"`
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

// tagsOut shows no tags as {}.
func tagsOut(tags map[string]string) map[string]string {
	if tags == nil {
		return map[string]string{}
	}
	return tags
}
