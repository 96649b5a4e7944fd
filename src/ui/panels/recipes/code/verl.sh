python3 -m verl.trainer.main_ppo \
  global_profiler.tool=torch_memory 'global_profiler.steps=[2]' \
  global_profiler.save_path=mem_snapshots \
  global_profiler.global_tool_config.torch_memory.trace_alloc_max_entries=1000000 \
  actor_rollout_ref.actor.profiler.enable=True \
  actor_rollout_ref.actor.profiler.all_ranks=True  # and the arguments of your run
# one file a rank below mem_snapshots
