// Package identity says who asks: it turns a bearer token into a principal with scopes, roles, groups and workspaces.
//
// It reads no configuration file and knows no transport: app hands it tokens, rest and mcpserver hand it header values.
// What a principal may do is asked here and enforced by action.
package identity

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
)

// MaxHeader bounds the value of an Authorization header, in bytes (http.md A1).
const MaxHeader = 8 << 10

// Principal is somebody who asks. The zero value may do nothing.
type Principal struct {
	ID      string // "team:<token id>", or "local" without a token (http.md A2)
	Kind    string // human | agent | service | system
	TokenID string // "" without a token
	Roles   []string
	Groups  []string
	Expires time.Time // zero: never

	scopes     map[catalog.Scope]bool
	workspaces map[string]bool // nil: all
	token      *Token          // nil without a token
}

// Local is the principal of callers on loopback while no token is configured: it holds every scope that the public contract
// names, but may neither approve nor administer.
func Local() Principal {
	p := Principal{ID: "local", Kind: "human", scopes: map[catalog.Scope]bool{}}
	for _, s := range catalog.Scopes {
		p.scopes[s.Scope] = s.Contract
	}
	return p
}

// Within is the principal, bound to workspaces that it is bound to already.
func (p Principal) Within(workspaces []string) Principal {
	bound := map[string]bool{}
	for _, w := range workspaces {
		bound[w] = p.Bound(w)
	}
	p.workspaces = bound
	return p
}

// Has says whether the principal holds a scope.
func (p Principal) Has(s catalog.Scope) bool { return p.scopes[s] }

// Missing are the scopes among those wanted that the principal does not hold.
func (p Principal) Missing(wanted []catalog.Scope) []catalog.Scope {
	var out []catalog.Scope
	for _, s := range wanted {
		if !p.scopes[s] {
			out = append(out, s)
		}
	}
	return out
}

// Bound says whether the principal may use a workspace.
func (p Principal) Bound(workspace string) bool {
	return p.workspaces == nil || p.workspaces[workspace]
}

// Token is a configured token. Its secret is kept as a hash.
type Token struct {
	ID         string
	Hash       [sha256.Size]byte
	Kind       string // "service" when empty
	Scopes     []catalog.Scope
	Roles      []string
	Groups     []string
	Workspaces []string // nil: all
	Expires    time.Time
}

// Hash is the form in which a token is kept.
func Hash(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }

// ParseHash reads the sha256Hex of a configured token, in either case.
func ParseHash(s string) (h [sha256.Size]byte, err error) {
	raw, err := hex.DecodeString(s)
	if err != nil || len(raw) != len(h) {
		return h, fault.New(catalog.InvalidRequest, "sha256Hex is 64 hexadecimal digits")
	}
	return [sha256.Size]byte(raw), nil
}

// ParseScope reads a scope in any spelling that configurations may use.
func ParseScope(s string) (catalog.Scope, error) {
	for _, row := range catalog.Scopes {
		if string(row.Scope) == s || slices.Contains(row.Aliases, s) {
			return row.Scope, nil
		}
	}
	return "", fault.New(catalog.InvalidRequest, "there is no scope %q", s)
}

// Table holds the tokens of one configuration. It does not change.
type Table struct {
	hashes     [][sha256.Size]byte
	principals []Principal // of the hash at the same place
	buckets    map[[4]byte][]int
	now        func() time.Time
}

// NewTable makes a table. Without tokens, everybody is Local.
func NewTable(tokens []Token, now func() time.Time) *Table {
	t := &Table{now: now, buckets: map[[4]byte][]int{}}
	for i, tok := range tokens {
		t.buckets[bucket(tok.Hash)] = append(t.buckets[bucket(tok.Hash)], i)
		t.hashes = append(t.hashes, tok.Hash)
		t.principals = append(t.principals, tok.principal())
	}
	return t
}

func (tok Token) principal() Principal {
	p := Principal{
		ID: "team:" + tok.ID, Kind: tok.Kind, TokenID: tok.ID, Roles: tok.Roles, Groups: tok.Groups, Expires: tok.Expires,
		scopes: map[catalog.Scope]bool{}, token: &tok,
	}
	if p.Kind == "" {
		p.Kind = "service"
	}
	for _, s := range tok.Scopes {
		p.scopes[s] = true
	}
	if tok.Workspaces != nil {
		p.workspaces = map[string]bool{}
		for _, w := range tok.Workspaces {
			p.workspaces[w] = true
		}
	}
	return p
}

// Empty says that no token is configured.
func (t *Table) Empty() bool { return len(t.hashes) == 0 }

// find gives the principal of a token. The bucket is chosen by the first bytes of the hash of what was presented, whose
// timing tells an attacker nothing that he can use; within it, every hash is compared in constant time.
func (t *Table) find(token string) (Principal, bool) {
	h := Hash(token)
	found := -1
	for _, i := range t.buckets[bucket(h)] {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(t.hashes[i][:], h[:]), i, found)
	}
	if found < 0 {
		return Principal{}, false
	}
	p := t.principals[found]
	return p, !p.expired(t.now())
}

func bucket(h [sha256.Size]byte) [4]byte { return [4]byte(h[:4]) }

func (p Principal) expired(now time.Time) bool { return !p.Expires.IsZero() && !now.Before(p.Expires) }

// Gate holds the table that is in force. Tables may be swapped while requests are served.
type Gate struct {
	table   atomic.Pointer[Table]
	changed atomic.Pointer[chan struct{}]
}

// NewGate makes a gate with a first table.
func NewGate(t *Table) *Gate {
	g := &Gate{}
	g.table.Store(t)
	ch := make(chan struct{})
	g.changed.Store(&ch)
	return g
}

// Swap puts another table in force and wakes everybody who waits on Changed.
func (g *Gate) Swap(t *Table) {
	g.table.Store(t)
	ch := make(chan struct{})
	close(*g.changed.Swap(&ch))
}

// Changed is closed at the next Swap.
func (g *Gate) Changed() <-chan struct{} { return *g.changed.Load() }

// Open says that no token is needed.
func (g *Gate) Open() bool { return g.table.Load().Empty() }

// Authenticate judges the values of all Authorization headers of a request (http.md A1). Every refusal is the fault
// unauthorized.
func (g *Gate) Authenticate(headers []string) (Principal, error) {
	t := g.table.Load()
	if t.Empty() {
		return Local(), nil
	}
	token, err := bearer(headers)
	if err != nil {
		return Principal{}, err
	}
	p, ok := t.find(token)
	if !ok {
		return Principal{}, fault.New(catalog.Unauthorized, "invalid bearer token")
	}
	return p, nil
}

// Valid says whether a principal that was let in before would be let in again, as the same. A token that has kept its id but
// not its secret, its scopes, its workspaces or its end is another one.
func (g *Gate) Valid(p Principal) bool {
	t := g.table.Load()
	if p.TokenID == "" {
		return t.Empty()
	}
	for _, known := range t.principals {
		if known.TokenID == p.TokenID {
			return !known.expired(t.now()) && reflect.DeepEqual(known.token, p.token)
		}
	}
	return false
}

// bearer takes the token out of an Authorization header: a scheme in any case, one or more spaces, a token68 (RFC 9110,
// section 11.4). Anything else is refused, whatever it is.
func bearer(headers []string) (string, error) {
	switch {
	case len(headers) == 0:
		return "", fault.New(catalog.Unauthorized, "missing Authorization header")
	case len(headers) > 1:
		return "", fault.New(catalog.Unauthorized, "more than one Authorization header")
	case len(headers[0]) > MaxHeader:
		return "", fault.New(catalog.Unauthorized, "the Authorization header is too long")
	}
	scheme, rest, _ := strings.Cut(headers[0], " ")
	if !strings.EqualFold(scheme, "bearer") {
		return "", fault.New(catalog.Unauthorized, "Authorization must use the Bearer scheme")
	}
	token := strings.TrimLeft(rest, " ")
	if !token68(token) {
		return "", fault.New(catalog.Unauthorized, "malformed Authorization header")
	}
	return token, nil
}

func token68(s string) bool {
	body := strings.TrimRight(s, "=")
	if body == "" {
		return false
	}
	for i := range len(body) {
		c := body[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~+/", c) >= 0) {
			return false
		}
	}
	return true
}

// CheckID judges the id of a workspace, channel, conversation or token (http.md A3). what names it in the fault
// invalid_request. An id is never changed to fit.
func CheckID(what, id string) error {
	ok := len(id) >= 1 && len(id) <= 64 && id != "." && id != ".."
	for i := range len(id) {
		c := id[i]
		ok = ok && ('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-')
	}
	if !ok {
		return fault.New(catalog.InvalidRequest, "%s must be 1 to 64 of A-Z a-z 0-9 . _ - and neither . nor ..", what)
	}
	return nil
}
