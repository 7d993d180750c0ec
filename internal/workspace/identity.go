package workspace

import (
	"io/fs"
	"time"
)

// Identity is what tells a changed file without reading it. Two identities of one path are compared with ==; where the
// platform does not tell a member, it is 0.
type Identity struct {
	Size     int64 // bytes
	MtimeNs  int64 // nanoseconds since 1970
	CtimeNs  int64 // nanoseconds since 1970
	Ino, Dev uint64
}

// Time stamps come from a clock that ticks: 10 ms on the slowest kernels, 2 s on file systems that keep whole seconds.
const (
	fineTick   = 20 * time.Millisecond
	coarseTick = 2 * time.Second
)

// Settled says whether an equal identity proves equal content: the file was last touched at least one tick of the file
// system's clock before it was read. Otherwise a second write could leave the same stamps, and only the hash decides.
// granularity 0 takes the tick from the stamps themselves: whole seconds mean a coarse one.
func (id Identity) Settled(readAt time.Time, granularity time.Duration) bool {
	if granularity <= 0 {
		granularity = id.tick()
	}
	touched := max(id.MtimeNs, id.CtimeNs)
	return touched < readAt.Add(-granularity).UnixNano()
}

func (id Identity) tick() time.Duration {
	second := int64(time.Second)
	if id.MtimeNs%second == 0 && id.CtimeNs%second == 0 {
		return coarseTick
	}
	return fineTick
}

// node is what is known of a name without opening it.
type node struct {
	mode fs.FileMode
	id   Identity
}

func (n node) info(rel string) Info {
	return Info{Path: rel, Type: typeOf(n.mode), Size: n.id.Size, Mode: n.mode, Identity: n.id}
}
