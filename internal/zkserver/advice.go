package zkserver

import "os/exec"

// advice names the commands that help on this system.
func advice() string {
	for _, a := range [][2]string{
		{"brew", "brew install zookeeper"},
		{"apt-get", "sudo apt-get install zookeeper default-jre-headless"},
		{"dnf", "sudo dnf install java-21-openjdk-headless"},
		{"yum", "sudo yum install java-17-openjdk-headless"},
		{"zypper", "sudo zypper install java-21-openjdk-headless"},
		{"pacman", "sudo pacman -S jre-openjdk-headless"},
		{"apk", "sudo apk add openjdk21-jre-headless"},
	} {
		if _, err := exec.LookPath(a[0]); err == nil {
			return "What to do: " + a[1] + " (what else is needed is then fetched), or name a running server: ZKLAB_SERVERS=host:port"
		}
	}
	return "What to do: install Java 8 or newer, unpack a ZooKeeper release and set ZOOKEEPER_HOME to its folder, or name a running server: ZKLAB_SERVERS=host:port"
}
