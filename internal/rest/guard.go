package rest

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
)

// guard refuses a foreign Host or Origin on every route (http.md A5): a page in a browser must not reach the server by a name
// that its attacker owns.
func (s *Server) guard(r *http.Request) error {
	if !s.allowed(r, r.Host) {
		return fault.New(catalog.OriginDenied, "the Host %q is foreign; --allowed-host adds names", clip(r.Host))
	}
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return nil
	}
	host, ok := originHost(origins[0])
	if len(origins) > 1 || !ok || !s.allowed(r, host) {
		return fault.New(catalog.OriginDenied, "the Origin %q is foreign; --allowed-host adds names", clip(origins[0]))
	}
	return nil
}

// originHost is the host of an origin: a scheme, a host and perhaps a port (RFC 6454), and nothing that only looks so.
func originHost(origin string) (string, bool) {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", false
	}
	return u.Host, strings.EqualFold(origin, u.Scheme+"://"+u.Host)
}

func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}

// allowed says whether the server may be called by a host, with or without a port.
func (s *Server) allowed(r *http.Request, host string) bool {
	name := strings.ToLower(hostname(host))
	if name == "localhost" || name == "127.0.0.1" || name == "::1" {
		return true
	}
	for _, h := range s.AllowedHosts() {
		if h = strings.ToLower(h); h == strings.ToLower(host) || hostname(h) == name {
			return name != ""
		}
	}
	// The address that the connection came in on is no name that somebody else could point elsewhere.
	ip, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	ap, err := netip.ParseAddrPort(local.String())
	return err == nil && ap.Addr().Unmap() == ip.Unmap()
}

// hostname is a host without its port and brackets; "" for what is no host.
func hostname(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		return h
	}
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		return host[1 : len(host)-1]
	}
	if strings.ContainsAny(host, "[]/@ ") || strings.Count(host, ":") == 1 {
		return ""
	}
	return host
}

// remote is the address of the caller: the peer, or what the nearest trusted proxy says of him.
func (s *Server) remote(r *http.Request) netip.Addr {
	peer := netip.Addr{}
	if ap, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		peer = ap.Addr().Unmap()
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && s.trusted(peer); i-- {
		next, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		peer = next.Unmap()
	}
	return peer
}

func (s *Server) trusted(a netip.Addr) bool {
	for _, p := range s.TrustedProxies {
		if p.Contains(a) {
			return true
		}
	}
	return false
}
