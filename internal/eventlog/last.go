package eventlog

import "github.com/ctxd/ctxd/internal/store"

// LastID is the newest id that was given out in the whole log, 0 before the first event.
func LastID(r *store.Reader) (id int64, err error) {
	err = r.QueryRow("SELECT last_id FROM event_log").Scan(&id)
	return id, err
}
