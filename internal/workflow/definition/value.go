package definition

// Value is a JSON value whose strings are templates. It is immutable.
type Value struct {
	node any // *Template, map[string]any, []any, or a plain string, json.Number, bool, nil
}

// value reads any JSON with a template in every string; keys are plain text.
func (f fields) value(key string) *Value {
	if !f.has(key) {
		return nil
	}
	return &Value{node: f.c.value(f.at(key), f.obj.values[key], inCall)}
}

func (c *checker) value(path string, v any, s scope) any {
	switch v := v.(type) {
	case *object:
		out := make(map[string]any, len(v.keys))
		for _, key := range v.keys {
			out[key] = c.value(path+"."+short(key), v.values[key], s)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, entry := range v {
			out[i] = c.value(index(path, i), entry, s)
		}
		return out
	case string:
		return c.text(path, v, s)
	default:
		return v
	}
}

// text returns a string without expressions unchanged.
func (c *checker) text(path, source string, s scope) any {
	t := c.template(path, source, s)
	switch {
	case t == nil:
		return nil
	case len(t.parts) == 0:
		return ""
	case len(t.parts) == 1 && t.parts[0].expr == nil:
		return t.parts[0].text
	default:
		return t
	}
}

// Secrets returns the names of the secrets that the value reads, each once.
func (v *Value) Secrets() []string { return unique(secretsOf(v.node)) }

func secretsOf(node any) []string {
	var names []string
	switch n := node.(type) {
	case *Template:
		names = n.Secrets()
	case map[string]any:
		for _, key := range sortedKeys(n) {
			names = append(names, secretsOf(n[key])...)
		}
	case []any:
		for _, entry := range n {
			names = append(names, secretsOf(entry)...)
		}
	}
	return names
}
