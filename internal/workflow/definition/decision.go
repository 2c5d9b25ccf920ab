package definition

import "github.com/google/cel-go/cel"

// DecisionConfig chooses a transition: that of the first rule that is true, else the default.
type DecisionConfig struct {
	Rules   []DecisionRule
	Default string // a transition's name
}

// DecisionRule takes its transition when its expression gives true.
type DecisionRule struct {
	When       *Expr // a bool
	Transition string
}

// decision reads the config of a DECISION, which names its ways out.
func (c *checker) decision(f fields) (*DecisionConfig, ways) {
	var w ways
	d := &DecisionConfig{}
	f.keys([]string{"default"}, "rules")
	f.objects("rules", 0, maxEntries, func(_ int, rule fields) {
		rule.keys([]string{"when", "transition"})
		d.Rules = append(d.Rules, DecisionRule{
			When:       rule.expression("when", plain, cel.BoolType),
			Transition: w.name(rule, "transition"),
		})
	})
	d.Default = w.name(f, "default")
	return d, w
}
