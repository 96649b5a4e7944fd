./run_train.sh --profiling.enable_memory_snapshot
# outputs/memory_snapshot/iteration_*/rank*_memory_snapshot.pickle, at an OOM too
