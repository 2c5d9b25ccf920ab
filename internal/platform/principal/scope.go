package principal

import (
	"fmt"
	"math/bits"
	"slices"
)

// Scopes is a set of permission scopes.
type Scopes uint32

// ScopeNames lists every scope, in the order of the bits of Scopes.
var ScopeNames = []string{
	"services:read", "services:write", "requests:read", "requests:write", "workflows:read", "workflows:write",
	"users:read", "audit:read", "billing:read",
	"users:write", "teams:read", "teams:write", "organizations:read", "organizations:write", "secrets:read", "secrets:write",
}

// AllScopes holds every scope.
const AllScopes Scopes = 1<<16 - 1

// ParseScopes returns the set of the named scopes; the error names the first unknown one.
func ParseScopes(names []string) (Scopes, error) {
	var s Scopes
	for _, name := range names {
		i := slices.Index(ScopeNames, name)
		if i < 0 {
			return 0, fmt.Errorf("unknown scope %q", name)
		}
		s |= 1 << i
	}
	return s, nil
}

// ScopeOf returns the set of the one named scope. An unknown name yields the empty set, which Has never accepts.
func ScopeOf(name string) Scopes {
	s, err := ParseScopes([]string{name})
	if err != nil {
		return 0
	}
	return s
}

// Has reports whether s holds every scope of want; false for an empty want.
func (s Scopes) Has(want Scopes) bool { return want != 0 && s&want == want }

// Names returns the scopes' names in the order of ScopeNames.
func (s Scopes) Names() []string {
	out := make([]string, 0, bits.OnesCount32(uint32(s)))
	for i, name := range ScopeNames {
		if s&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}
