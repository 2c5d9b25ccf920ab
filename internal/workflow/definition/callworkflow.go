package definition

import "context"

// MaxDepth is how deep calls of workflows may be nested: an execution that nobody calls is at 0, one that it calls at 1.
const MaxDepth = 5

// CallWorkflowConfig is the workflow that a CALL_WORKFLOW starts.
type CallWorkflowConfig struct {
	WorkflowID string
	Input      []NamedValue // what the called execution reads as input, in the order written
	Wait       bool         // until the called execution has ended
}

// NamedValue is a JSON value whose strings are templates, and the name by which it is read.
type NamedValue struct {
	Name  string
	Value *Value
}

// callWorkflow reads the config of a CALL_WORKFLOW.
func (c *checker) callWorkflow(f fields) (*CallWorkflowConfig, ways) {
	f.keys([]string{"workflowId"}, "input", "wait")
	cfg := &CallWorkflowConfig{WorkflowID: f.str("workflowId", shownRunes), Input: f.namedValues("input"), Wait: f.flag("wait", true)}
	if cfg.WorkflowID != "" {
		c.refs.Workflows = append(c.refs.Workflows, Reference{ID: cfg.WorkflowID, Field: f.at("workflowId")})
	}
	return cfg, ways{must: []string{Next}}
}

// namedValues reads an object of names and JSON values with templates in their strings.
func (f fields) namedValues(key string) []NamedValue {
	set, ok := f.object(key)
	if !ok {
		return nil
	}
	if len(set.obj.keys) > maxEntries {
		f.c.fault(set.path, "May hold at most %d names.", maxEntries)
		return nil
	}
	var list []NamedValue
	for _, name := range set.obj.keys {
		if !variableName.MatchString(name) {
			f.c.fault(set.at(name), "Is not a variable's name: it takes letters, digits and _.")
			continue
		}
		list = append(list, NamedValue{name, &Value{node: f.c.value(set.at(name), set.obj.values[name], plain)}})
	}
	return list
}

// flag reads true or false; unset if there is none.
func (f fields) flag(key string, unset bool) bool {
	if !f.has(key) {
		return unset
	}
	v, ok := f.obj.values[key].(bool)
	if !ok {
		f.c.fault(f.at(key), "Must be true or false, not %s.", kindOf(f.obj.values[key]))
	}
	return v
}

// InputError says which value of an input could not be evaluated.
type InputError struct {
	Name  string
	cause error
}

// Error returns the name and the cause.
func (e *InputError) Error() string { return e.Name + ": " + e.cause.Error() }

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.cause }

// Eval returns the input of the called execution. Returns an *InputError for a value that fails, or with which the input becomes larger
// than a result may be.
func (c *CallWorkflowConfig) Eval(ctx context.Context, b Bound) (map[string]any, error) {
	out := make(map[string]any, len(c.Input))
	var all Bounds
	for _, one := range c.Input {
		v, err := one.Value.Eval(ctx, b)
		if err == nil {
			err = all.Take(v)
		}
		if err != nil {
			return nil, &InputError{one.Name, err}
		}
		out[one.Name] = v
	}
	return out, nil
}
