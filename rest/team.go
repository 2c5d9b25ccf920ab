package rest

import (
	"atrium/ent"
	"atrium/internal/people"
)

// Team is a group of users.
type Team struct {
	ID             string   `json:"id" doc:"The team's id, team_…" example:"team_01k9ye4ryzf7stj6dqnm8x2v3b"`
	Name           string   `json:"name" example:"Service desk"`
	Slug           string   `json:"slug" doc:"Unique in the company." example:"service-desk"`
	Description    *string  `json:"description" example:"First line for everything with a plug"`
	OrganizationID *string  `json:"organizationId" doc:"The organization that the team belongs to, or null." example:"org_01k9ye4ryzf7stj6dqnm8x2v3b"`
	MemberIDs      []string `json:"memberIds" doc:"The users in the team, ordered by id." example:"[\"usr_01k9ye4ryzf7stj6dqnm8x2v3b\"]"`
	CreatedAt      Time     `json:"createdAt"`
	UpdatedAt      Time     `json:"updatedAt"`
}

// teamOut renders a team that was loaded with its members.
func teamOut(t *ent.Team) Team {
	return Team{
		ID:             t.ID,
		Name:           t.Name,
		Slug:           t.Slug,
		Description:    textOrNil(t.Description),
		OrganizationID: t.OrganizationID,
		MemberIDs:      people.MemberIDs(t),
		CreatedAt:      at(t.CreatedAt),
		UpdatedAt:      at(t.UpdatedAt),
	}
}
