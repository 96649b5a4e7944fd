from megatron.bridge.training.config import ProfilingConfig

cfg.profiling = ProfilingConfig(
    use_pytorch_profiler=True,  # for the names of the steps in the file
    profile_step_start=10,
    profile_step_end=12,
    profile_ranks=[0, 1],  # only rank 0 by default
    record_memory_history=True,
    memory_snapshot_path="snapshot.pickle",  # snapshot_0.pickle, snapshot_1.pickle
)
