package rest

import "atrium/ent"

// Organization is a node of the company's own structure, such as a division.
type Organization struct {
	ID        string            `json:"id" doc:"The organization's id, org_…" example:"org_01k9ye4ryzf7stj6dqnm8x2v3b"`
	Name      string            `json:"name" example:"Berlin office"`
	Slug      string            `json:"slug" doc:"Unique in the company." example:"berlin-office"`
	ParentID  *string           `json:"parentId" doc:"The organization that this one is part of, or null." example:"org_01k9ye4ryzf7stj6dqnm8x2v3b"`
	Tags      map[string]string `json:"tags" example:"{\"site\": \"berlin\"}"`
	CreatedAt Time              `json:"createdAt"`
	UpdatedAt Time              `json:"updatedAt"`
}

// organizationOut renders an organization.
func organizationOut(o *ent.Organization) Organization {
	return Organization{
		ID:        o.ID,
		Name:      o.Name,
		Slug:      o.Slug,
		ParentID:  o.ParentID,
		Tags:      tagsOut(o.Tags),
		CreatedAt: at(o.CreatedAt),
		UpdatedAt: at(o.UpdatedAt),
	}
}
