module zklab/exercises

go 1.26.0

require (
	github.com/go-zookeeper/zk v1.0.4
	zklab v0.0.0
)

replace zklab => ../
