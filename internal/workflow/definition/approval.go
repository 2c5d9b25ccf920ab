package definition

// ApprovalConfig asks approvers for a decision.
type ApprovalConfig struct {
	Approvers []Approver
	Mode      ApprovalMode
	Quorum    int // with the mode quorum: how many approvals decide
	Order     ApprovalOrder
	Deadline  *Span // nil: none
	Shows     Shows
}

// Approver is a user, or a team any member of which may decide, or a rule that says who that is. Its fields are those of a Participant.
type Approver struct {
	Type, ID, Answer, Phase, Said string
}

// ApprovalMode says how many decisions determine the outcome.
type ApprovalMode string

// The modes of an approval.
const (
	Any    ApprovalMode = "any"    // the first decision counts
	All    ApprovalMode = "all"    // every approver must approve
	Quorum ApprovalMode = "quorum" // Quorum approvals decide
)

// ApprovalOrder says when approvers may decide.
type ApprovalOrder string

// The orders of an approval.
const (
	Parallel   ApprovalOrder = "parallel"
	Sequential ApprovalOrder = "sequential" // in the order of the list
)

// approval reads the config of an APPROVAL.
func (c *checker) approval(f fields) (*ApprovalConfig, ways) {
	f.keys([]string{"approvers", "mode"}, "quorum", "order", "deadline", "shows")
	a := &ApprovalConfig{
		Approvers: c.approvers(f),
		Mode:      ApprovalMode(f.oneOf("mode", string(Any), string(All), string(Quorum))),
		Order:     ApprovalOrder(f.oneOf("order", string(Parallel), string(Sequential))),
		Deadline:  f.span("deadline"),
		Shows:     f.shows(),
	}
	if a.Order == "" {
		a.Order = Parallel
	}
	switch {
	case a.Mode == Quorum && !f.has("quorum"):
		c.fault(f.at("quorum"), "Is required with the mode quorum.")
	case a.Mode != "" && a.Mode != Quorum && f.has("quorum"):
		c.fault(f.at("quorum"), "Belongs to the mode quorum only.")
	case len(a.Approvers) > 0:
		a.Quorum = f.whole("quorum", 1, len(a.Approvers), 0)
	}
	w := ways{must: []string{Approved, Rejected}}
	if f.has("deadline") {
		w.must = append(w.must, Expired)
	}
	return a, w
}

func (c *checker) approvers(f fields) []Approver {
	var list []Approver
	seen := map[Approver]bool{}
	f.objects("approvers", 1, maxEntries, func(_ int, one fields) {
		one.keys([]string{"type"}, "id", "answer", "phaseId")
		p := one.who(true, "user", "team")
		a := Approver{Type: p.Type, ID: p.ID, Answer: p.Answer, Phase: p.Phase}
		switch {
		case seen[a] && a.ID != "":
			c.fault(one.at("id"), "The %s %s is an approver already.", a.Type, quote(a.ID))
		case seen[a] && p.ByRule():
			c.fault(one.at("type"), "Is an approver already.")
		}
		seen[a] = true
		list = append(list, a)
	})
	return list
}
