package relay

// Order is how a list is ordered.
type Order struct {
	Field     string
	Direction string // ASC or DESC
}

// Sort returns the order in the form of package paging; "" for nil.
func (o *Order) Sort() string {
	switch {
	case o == nil:
		return ""
	case o.Direction == "DESC":
		return "-" + o.Field
	}
	return o.Field
}
