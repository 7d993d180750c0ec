package rest

import (
	"net/http"
	"strings"
)

// raw is an answer whose bytes are made already. It fits every operation.
type raw struct {
	status int // 0: 200
	kind   string
	header map[string]string
	body   []byte
}

// object is a JSON answer.
func object(v any) raw { return raw{kind: "application/json", body: encode(v)} }

func (a raw) write(w http.ResponseWriter) error {
	h := w.Header()
	if a.kind != "" {
		h.Set("Content-Type", a.kind)
	}
	h.Set("X-Content-Type-Options", "nosniff")
	for k, v := range a.header {
		h.Set(k, v)
	}
	if a.status != 0 {
		w.WriteHeader(a.status)
	}
	_, _ = w.Write(a.body) // who has gone cannot be told
	return nil
}

// document answers with a document, or with 304 where the caller holds it already.
func document(d tagged, held *string) raw {
	a := raw{kind: "application/json", header: map[string]string{"ETag": d.tag, "Cache-Control": "no-cache"}}
	if held != nil && matches(*held, d.tag) {
		a.status, a.kind = http.StatusNotModified, ""
		return a
	}
	a.body = d.body
	return a
}

// matches judges If-None-Match (RFC 9110, section 13.1.2), which compares weakly.
func matches(held, tag string) bool {
	for t := range strings.SplitSeq(held, ",") {
		if t = strings.TrimPrefix(strings.TrimSpace(t), "W/"); t == tag || t == "*" {
			return true
		}
	}
	return false
}

// Each operation wants a method of its own name.

func (a raw) VisitGetHealthResponse(w http.ResponseWriter) error          { return a.write(w) }
func (a raw) VisitGetReadyResponse(w http.ResponseWriter) error           { return a.write(w) }
func (a raw) VisitGetOpenAPIResponse(w http.ResponseWriter) error         { return a.write(w) }
func (a raw) VisitGetContractOpenAPIResponse(w http.ResponseWriter) error { return a.write(w) }
func (a raw) VisitGetManifestResponse(w http.ResponseWriter) error        { return a.write(w) }
func (a raw) VisitGetCapabilitiesResponse(w http.ResponseWriter) error    { return a.write(w) }
func (a raw) VisitListToolsResponse(w http.ResponseWriter) error          { return a.write(w) }
func (a raw) VisitCallToolResponse(w http.ResponseWriter) error           { return a.write(w) }
func (a raw) VisitSearchEventsResponse(w http.ResponseWriter) error       { return a.write(w) }
func (a raw) VisitTraceEventResponse(w http.ResponseWriter) error         { return a.write(w) }
func (a raw) VisitGetSummaryResponse(w http.ResponseWriter) error         { return a.write(w) }
func (a raw) VisitGetMetricsResponse(w http.ResponseWriter) error         { return a.write(w) }
