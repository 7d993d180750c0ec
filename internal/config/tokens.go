package config

import (
	"strings"
	"time"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/identity"
)

// AuthTokenID is the id of the token that auth_token configures.
const AuthTokenID = "auth-token"

// IdentityTokens are the configured tokens. Two of one id or one hash are refused; so is a token bound to a workspace that
// is not served, since it could never be used.
func (c *Config) IdentityTokens(workspaces []string) ([]identity.Token, error) {
	var out []identity.Token
	if c.AuthToken != nil {
		t := identity.Token{ID: AuthTokenID, Hash: identity.Hash(*c.AuthToken)}
		for _, s := range catalog.Scopes {
			if s.Contract {
				t.Scopes = append(t.Scopes, s.Scope)
			}
		}
		out = append(out, t)
	}
	for _, tc := range c.Tokens {
		t := identity.Token{ID: tc.ID, Kind: string(tc.Kind), Roles: tc.Roles, Groups: tc.Groups, Workspaces: tc.Workspaces}
		var err error
		if t.Hash, err = identity.ParseHash(tc.Sha256Hex); err != nil {
			return nil, err
		}
		for _, s := range tc.Scopes {
			scope, err := identity.ParseScope(s)
			if err != nil {
				return nil, fault.New(catalog.InvalidRequest, "the token %q: %w", tc.ID, err)
			}
			t.Scopes = append(t.Scopes, scope)
		}
		if tc.ExpiresAt != nil {
			if t.Expires, err = time.Parse(time.RFC3339, *tc.ExpiresAt); err != nil {
				return nil, fault.New(catalog.InvalidRequest, "the token %q: expiresAt is no RFC 3339 time", tc.ID)
			}
		}
		out = append(out, t)
	}
	return out, checkTokens(out, workspaces)
}

func checkTokens(tokens []identity.Token, workspaces []string) error {
	served := strings.Join(workspaces, "\n") + "\n"
	for i, t := range tokens {
		for _, other := range tokens[:i] {
			if other.ID == t.ID {
				return fault.New(catalog.InvalidRequest, "two tokens are called %q", t.ID)
			}
			if other.Hash == t.Hash {
				return fault.New(catalog.InvalidRequest, "the tokens %q and %q are the same", other.ID, t.ID)
			}
		}
		for _, w := range t.Workspaces {
			if !strings.Contains("\n"+served, "\n"+w+"\n") {
				return fault.New(catalog.InvalidRequest, "the token %q is bound to the workspace %q, which is not served", t.ID, w)
			}
		}
	}
	return nil
}
