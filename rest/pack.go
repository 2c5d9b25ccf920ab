package rest

import "atrium/internal/desk/pack"

// Pack is a starter pack that ships.
type Pack struct {
	Key         string     `json:"key" doc:"What installing takes as its pack." example:"it-service-desk"`
	Name        string     `json:"name" example:"IT service desk"`
	Description string     `json:"description" doc:"What people get." example:"People report problems, order equipment and ask questions."`
	Makes       []PackItem `json:"makes" doc:"What it makes, in this order, and what of that the company has already."`
}

// PackItem is one thing that a pack makes.
type PackItem struct {
	Kind   string  `json:"kind" enum:"Team,Calendar,Workflow,Service,Offering,RoutingRule,SavedReply,Schedule,InboundWebhook,AccessPolicy"`
	Key    string  `json:"key" doc:"What the file calls it; the slug of what has one." example:"it-support"`
	Name   string  `json:"name" doc:"What people call it." example:"IT support"`
	Action string  `json:"action" enum:"make,keep" doc:"make: it is new. keep: the company has it already, and it stays as it is."`
	ID     *string `json:"id" doc:"The row's id, once it is there." example:"team_01k9ye4ryzf7stj6dqnm8x2v3b"`
}

// PackPlan is what a pack makes in the company.
type PackPlan struct {
	Name        string     `json:"name" example:"IT service desk"`
	Description string     `json:"description" doc:"What people get." example:"People report problems, order equipment and ask questions."`
	Items       []PackItem `json:"items" doc:"What it makes, in this order."`
}

// ServiceTemplate is a service as a pack.
type ServiceTemplate struct {
	Source string `json:"source" doc:"The pack in YAML: what installing takes as its source." example:"kind: Pack\nkey: it\nspec:\n  name: IT\n"`
}

func packOut(p *pack.Pack) Pack {
	return Pack{p.Key, p.Name, p.Description, each(p.Makes, packItemOut)}
}

func packItemOut(it *pack.Item) PackItem { return PackItem(*it) }

func packPlanOut(p *pack.Plan) PackPlan {
	return PackPlan{p.Name, p.Description, each(p.Items, packItemOut)}
}

func serviceTemplateOut(w *pack.Written) ServiceTemplate { return ServiceTemplate(*w) }
