package pack

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"atrium/internal/platform/apperr"
)

// reference is a place of a document that names another one, or a row that the company has.
type reference struct {
	to    string // "Team/it-support"
	field string
	line  int
}

var (
	referencePattern = regexp.MustCompile(`^([A-Z][A-Za-z]*)/([a-z0-9-]{1,63})$`)
	idPattern        = regexp.MustCompile(`^[a-z]{2,5}_[0-9a-z]{26}$`)
)

// named are the kinds that others refer to.
var named = []string{"Team", "Calendar", "Workflow", "Service", "Offering"}

func decimal(i int) string { return strconv.Itoa(i) }

// isReference reports whether a field holds an id.
func isReference(field string) bool { return field == "id" || strings.HasSuffix(field, "Id") }

// refers reports whether a field names another document.
func refers(field, text string) bool { return isReference(field) && referencePattern.MatchString(text) }

// references gathers what a document refers to. within reports whether n is within the definition of a workflow or a field mapping, whose
// names are somebody's own.
func (r *reader) references(d *document, n *yaml.Node, path string, within bool) {
	if n.Kind == yaml.SequenceNode {
		for i, item := range n.Content {
			r.references(d, item, path+"["+decimal(i)+"]", within)
		}
		return
	}
	if n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, n.Content[i+1]
		field := strings.TrimPrefix(path+"."+key, ".")
		if text := textOf(value); text != "" && isReference(key) {
			r.reference(d, reference{text, field, value.Line}, within)
		}
		r.references(d, value, field, within || key == "definition" || key == "fieldMapping")
	}
}

// reference keeps a reference, or refuses an id in its place. The phases of a definition have ids of their own, and a condition compares
// with other values, too.
func (r *reader) reference(d *document, ref reference, within bool) {
	parts := referencePattern.FindStringSubmatch(ref.to)
	switch {
	case idPattern.MatchString(ref.to):
		r.fault(d.String(), ref.field, ref.line, "must be a reference such as Team/it-support: a file has no ids")
	case parts == nil && (within || d.kind.name == "AccessPolicy" || strings.HasPrefix(ref.field, "request.fields.")):
	case parts == nil:
		r.fault(d.String(), ref.field, ref.line, "must be a reference such as Team/it-support")
	case kinds[parts[1]] == nil || !slices.Contains(named, parts[1]):
		r.fault(d.String(), ref.field, ref.line, "must be a reference to one of %s", strings.Join(named, ", "))
	case ref.to == d.String():
		r.fault(d.String(), ref.field, ref.line, "must not refer to itself")
	default:
		d.refs = append(d.refs, ref)
	}
}

// order sorts the documents so that each stands behind those that it refers to, and otherwise by their kinds and as they were written.
// Returns a fault for a circle.
func (f *file) order() []apperr.Detail {
	slices.SortStableFunc(f.documents, func(a, b *document) int { return cmp.Compare(a.kind.rank, b.kind.rank) })
	byName := make(map[string]*document, len(f.documents))
	for _, d := range f.documents {
		byName[d.String()] = d
	}
	sorted, state := make([]*document, 0, len(f.documents)), map[*document]int{}
	const begun, done = 1, 2
	var visit func(d *document) *reference // the reference that closes a circle
	visit = func(d *document) *reference {
		state[d] = begun
		for _, ref := range d.refs {
			on := byName[ref.to]
			if on == nil || state[on] == done {
				continue
			}
			if state[on] == begun {
				return &ref
			}
			if closing := visit(on); closing != nil {
				return closing
			}
		}
		state[d] = done
		sorted = append(sorted, d)
		return nil
	}
	for _, d := range f.documents {
		if state[d] == done {
			continue
		}
		if closing := visit(d); closing != nil {
			on := byName[closing.to]
			return []apperr.Detail{{Field: on.String(), Message: atLine("must not refer to itself by way of others", on.line)}}
		}
	}
	f.documents = sorted
	return nil
}
