# From June 2026 on it records Python stacks; before, the option was --profiling.enable_memory_snapshot.
./run_train.sh --profiler.enable_memory_snapshot --profiler.memory_snapshot_max_entries=1000000
# outputs/memory_snapshot/iteration_*/rank*_memory_snapshot.pickle, at an OOM too
