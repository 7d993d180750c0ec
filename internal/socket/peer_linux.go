package socket

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// samePeer wants the process at the other end to be one of the same user, by what the kernel knows of it.
func samePeer(c *net.UnixConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var who *syscall.Ucred
	var askErr error
	err = raw.Control(func(fd uintptr) {
		who, askErr = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err := errors.Join(err, askErr); err != nil {
		return err
	}
	return judge(who.Uid)
}

// judge refuses a user that this process does not run as.
func judge(uid uint32) error {
	if int(uid) != os.Geteuid() {
		return ErrForeign
	}
	return nil
}
