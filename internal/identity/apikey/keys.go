package apikey

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"time"

	"atrium/ent"
	entkey "atrium/ent/apikey"
	"atrium/ent/serviceaccount"
	"atrium/ent/user"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/principal"
)

var keySorts = op.Sorts{"createdAt": entkey.FieldCreatedAt, "name": op.Alphabetical(entkey.FieldName)}

// The operations on API keys. They require a person: a key can never make a key.
var (
	List = paging.NewList("apikey.list", op.Spec{
		Resource: "APIKey", Action: op.Read, AdminLayer: true, Sorts: keySorts, Summary: "List API keys",
	}, func(_ context.Context, tx *op.Tx, _ ListInput) *ent.APIKeyQuery { return tx.APIKey.Query() })

	Create = op.New("apikey.create", op.Spec{
		Resource: "APIKey", Action: op.Create, AdminLayer: true, LiveOnly: true, Summary: "Issue an API key",
	}, createKey).WithCheck(func(ctx context.Context, tx *op.Tx, in CreateInput) error {
		_, err := in.check(tx.Now(ctx))
		return err
	}, "scopes", "allowedIps")

	Rotate = op.OnRow("apikey.rotate", op.Spec{
		Resource: "APIKey", Action: op.Update, AdminLayer: true, Summary: "Replace an API key's value",
	}, loadKey, rotateKey).WithRowVerbs(func(row any, _ op.ByID) []string { return ofOwnersKey(row, actAsOwner) })

	Revoke = op.OnRow("apikey.revoke", op.Spec{
		Resource: "APIKey", Action: op.Update, AdminLayer: true, Summary: "Revoke an API key, at once and for good",
	}, loadKey, revokeKey).WithRowVerbs(func(row any, _ op.ByID) []string { return ofOwnersKey(row, revokeOwner) })
)

// The rights to get a new key value that acts as an owner, and to revoke an owner's key.
const (
	actAsOwner  = "apikey.act_as_owner"
	revokeOwner = "apikey.revoke_owner"
)

// ofOwnersKey returns the right if an owner is behind the key. row must be loaded with its user and service account.
func ofOwnersKey(row any, right string) []string {
	k, ok := row.(*ent.APIKey)
	if !ok {
		return nil
	}
	u, sa := k.Edges.User, k.Edges.ServiceAccount
	if u != nil && u.Role == user.RoleOwner || sa != nil && sa.Role == serviceaccount.RoleOwner {
		return []string{right}
	}
	return nil
}

// Issued is a key with its value, which is shown only once.
type Issued struct {
	ID    string
	Key   *ent.APIKey
	Value string
}

// ListInput pages the keys.
type ListInput struct{ paging.Page }

func loadKey(ctx context.Context, tx *op.Tx, id string) (*ent.APIKey, error) {
	k, err := op.Lock(tx, tx.APIKey.Query().Where(entkey.ID(id))).Only(ctx)
	if err != nil {
		return nil, err
	}
	all := tx.Unfiltered(ctx, "an owner's key is one, whether or not the caller may see the owner")
	if k.UserID != nil {
		if k.Edges.User, err = tx.User.Get(all, *k.UserID); err != nil {
			return nil, fmt.Errorf("read whom the key acts as: %w", err)
		}
	}
	if k.ServiceAccountID != nil {
		if k.Edges.ServiceAccount, err = tx.ServiceAccount.Get(all, *k.ServiceAccountID); err != nil {
			return nil, fmt.Errorf("read whom the key acts as: %w", err)
		}
	}
	return k, nil
}

// CreateInput describes a new key. The key acts with the rights of the person who makes it, or of a service account, limited to
// its scopes.
type CreateInput struct {
	Name             string     `json:"name" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	Scopes           []string   `json:"scopes" minItems:"1" maxItems:"16" uniqueItems:"true"`
	Test             *bool      `json:"test,omitempty" nullable:"true" doc:"A test key reaches the sandbox and nothing else."`
	ExpiresAt        *time.Time `json:"expiresAt,omitempty" nullable:"true" doc:"Without it the key is valid until it is revoked."`
	AllowedIPs       []string   `json:"allowedIps,omitempty" nullable:"true" maxItems:"100" doc:"Addresses and CIDR prefixes that the key works from; anywhere without them."`
	ServiceAccountID *string    `json:"serviceAccountId,omitempty" nullable:"true" maxLength:"64" doc:"The service account that the key acts as; the caller without one."`
	OwnerID          string     `json:"-"` // set by the operator: the user who stands behind the key
}

// createKey issues a key. Returns validation_error for unknown scopes, a past expiry, a faulty address or an unknown
// service account; forbidden for scopes outside the caller's own and for an account that may do more than the caller.
// The keys of a sandbox are test keys of its live company.
func createKey(ctx context.Context, tx *op.Tx, in CreateInput) (Issued, error) {
	scopes, err := in.check(tx.Now(ctx))
	if err != nil {
		return Issued{}, err
	}
	p := tx.Principal()
	if p.Method == principal.MethodBearer && !p.Scopes.Has(scopes) {
		return Issued{}, apperr.New(apperr.Forbidden, "A key cannot have scopes that you do not have.")
	}
	behind, err := in.behind(ctx, tx)
	if err != nil {
		return Issued{}, err
	}
	return issue(ctx, tx, func(c *ent.APIKeyCreate) *ent.APIKeyCreate {
		return behind(c.SetName(in.Name).SetScopes(scopes.Names()).SetNillableExpiresAt(in.ExpiresAt).SetAllowedIps(in.AllowedIPs))
	}, op.Or(in.Test, false))
}

// behind returns a function that sets whom the key acts as and who made it.
func (in CreateInput) behind(ctx context.Context, tx *op.Tx) (func(*ent.APIKeyCreate) *ent.APIKeyCreate, error) {
	p := tx.Principal()
	owner := p.ID
	if p.Type == principal.TypeOperator {
		owner = in.OwnerID
	}
	if in.ServiceAccountID != nil {
		account, err := tx.ServiceAccount.Query().Where(serviceaccount.ID(*in.ServiceAccountID)).Only(ctx)
		if ent.IsNotFound(err) {
			return nil, apperr.InvalidField("serviceAccountId", "is no service account of this company")
		}
		if err != nil {
			return nil, fmt.Errorf("look the service account up: %w", err)
		}
		if !account.Enabled {
			return nil, apperr.InvalidField("serviceAccountId", "is disabled")
		}
		if account.Role == serviceaccount.RoleOwner {
			if err := tx.May(ctx, actAsOwner); err != nil {
				return nil, err
			}
		}
		return func(c *ent.APIKeyCreate) *ent.APIKeyCreate {
			return c.SetServiceAccountID(account.ID).SetCreatedBy(cmp.Or(owner, account.ID))
		}, nil
	}
	exists, err := op.Share(tx, tx.User.Query().Where(user.ID(owner))).Exist(ctx) // an erasure waits, and revokes the key
	if err != nil {
		return nil, fmt.Errorf("look the owner up: %w", err)
	}
	if !exists {
		return nil, apperr.InvalidField("user", "is no user of this company")
	}
	return func(c *ent.APIKeyCreate) *ent.APIKeyCreate { return c.SetUserID(owner).SetCreatedBy(owner) }, nil
}

// check reports the faults that tags cannot express.
func (in CreateInput) check(now time.Time) (principal.Scopes, error) {
	var refs op.Refs
	var scopes principal.Scopes
	for i, name := range in.Scopes {
		scope, err := principal.ParseScopes([]string{name})
		if err != nil {
			refs.Fault(fmt.Sprintf("scopes[%d]", i), "is no known scope")
		}
		scopes |= scope
	}
	if in.ExpiresAt != nil && (!in.ExpiresAt.After(now) || in.ExpiresAt.UTC().Year() > clock.LastYear) {
		refs.Fault("expiresAt", fmt.Sprintf("must be in the future, before the year %d", clock.LastYear+1))
	}
	if _, err := ParsePrefixes(in.AllowedIPs); err != nil {
		refs.Fault("allowedIps", "must be addresses or CIDR prefixes")
	}
	return scopes, refs.Err()
}

// issue issues a key, and records it for the audit entry of the operation.
func issue(ctx context.Context, tx *op.Tx, fill func(*ent.APIKeyCreate) *ent.APIKeyCreate, test bool) (Issued, error) {
	key, err := Issue(ctx, tx.Client, fill, test)
	if err != nil {
		return Issued{}, err
	}
	tx.About(key.ID)
	tx.Changed(nil, key.Key)
	return key, nil
}

// Issue makes a key's value, live or test, and the row that stores its hash; fill sets the rest of the row.
func Issue(ctx context.Context, db *ent.Client, fill func(*ent.APIKeyCreate) *ent.APIKeyCreate, test bool) (Issued, error) {
	value, err := New(test)
	if err != nil {
		return Issued{}, fmt.Errorf("make a key: %w", err)
	}
	hash := value.Hash()
	row, err := fill(db.APIKey.Create()).SetHash(hash[:]).SetPrefix(value.Prefix()).SetLast4(value.Last4()).SetTest(test).Save(ctx)
	if err != nil {
		return Issued{}, fmt.Errorf("keep the key: %w", err)
	}
	return Issued{ID: row.ID, Key: row, Value: value.Value()}, nil
}

// rotateKey issues a new value with the same name, scopes, owner, expiry and addresses, and revokes the old key.
func rotateKey(ctx context.Context, tx *op.Tx, old *ent.APIKey, _ op.ByID) (Issued, error) {
	if old.RevokedAt != nil {
		return Issued{}, apperr.New(apperr.Conflict, "The key is revoked and cannot be restored.")
	}
	if _, err := revoke(ctx, tx, old); err != nil {
		return Issued{}, err
	}
	return issue(ctx, tx, func(c *ent.APIKeyCreate) *ent.APIKeyCreate {
		return c.SetName(old.Name).SetScopes(old.Scopes).SetNillableUserID(old.UserID).SetNillableServiceAccountID(old.ServiceAccountID).
			SetNillableAgentID(old.AgentID).
			SetCreatedBy(old.CreatedBy).SetNillableExpiresAt(old.ExpiresAt).SetAllowedIps(old.AllowedIps)
	}, old.Test)
}

func revokeKey(ctx context.Context, tx *op.Tx, key *ent.APIKey, _ op.ByID) (*ent.APIKey, error) {
	if key.RevokedAt != nil {
		return key, nil // already revoked
	}
	return revoke(ctx, tx, key)
}

func revoke(ctx context.Context, tx *op.Tx, key *ent.APIKey) (*ent.APIKey, error) {
	after, err := key.Update().SetRevokedAt(tx.Now(ctx)).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("revoke the key: %w", err)
	}
	tx.AuthorityChanged()
	tx.Changed(key, after)
	return after, nil
}

// ParsePrefixes reads addresses and CIDR prefixes. The error names the first that is neither.
func ParsePrefixes(list []string) ([]netip.Prefix, error) {
	out := make([]netip.Prefix, 0, len(list))
	for _, s := range list {
		if p, err := netip.ParsePrefix(s); err == nil {
			out = append(out, p.Masked())
			continue
		}
		ip, err := netip.ParseAddr(s)
		if err != nil {
			return nil, fmt.Errorf("%q is no address and no CIDR prefix", s)
		}
		out = append(out, netip.PrefixFrom(ip.Unmap(), ip.Unmap().BitLen()))
	}
	return out, nil
}
