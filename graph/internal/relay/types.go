package relay

import "atrium/ent"

// The connections and edges of the schema, by their names in it.
type (
	OfferingConnection = Connection[ent.Offering]
	OfferingEdge       = Edge[ent.Offering]
	RequestConnection  = Connection[ent.Request]
	RequestEdge        = Edge[ent.Request]
	ServiceConnection  = Connection[ent.Service]
	ServiceEdge        = Edge[ent.Service]
)

// Order is how a list is ordered.
type Order struct {
	Field     string
	Direction string // ASC or DESC
}

// Sort returns the order as lists of package op take it; empty for none.
func (o *Order) Sort() string {
	switch {
	case o == nil:
		return ""
	case o.Direction == "DESC":
		return "-" + o.Field
	}
	return o.Field
}

// The orders of the schema, by their names in it.
type (
	ServiceOrder = Order
)
