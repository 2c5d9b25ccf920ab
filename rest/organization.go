package rest

import "atrium/ent"

// Organization is a node of the company's own structure, such as a division.
type Organization struct {
	ID        string            `json:"id" doc:"The organization's id, org_…"`
	Name      string            `json:"name"`
	Slug      string            `json:"slug" doc:"Unique in the company."`
	ParentID  *string           `json:"parentId" doc:"The organization that this one is part of, or null."`
	Tags      map[string]string `json:"tags"`
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
