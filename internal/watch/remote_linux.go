package watch

import "syscall"

// remote are file systems on which others may write without the kernel here hearing of it, by their magic numbers.
var remote = map[uint32]string{
	0x6969:     "NFS",
	0x517b:     "SMB",
	0xff534d42: "CIFS",
	0xfe534d42: "SMB2",
	0x01021997: "9P",
	0x65735546: "FUSE",
	0x00c36400: "Ceph",
	0x5346414f: "AFS",
	0x786f4256: "a shared folder of VirtualBox",
}

// remoteAt names the kind of the file system of a folder if it is such a one.
func remoteAt(dir string) string {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return ""
	}
	return remote[uint32(st.Type)]
}
