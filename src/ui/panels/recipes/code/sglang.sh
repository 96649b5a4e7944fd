export SGLANG_TORCH_PROFILER_DIR=snapshots SGLANG_MEM_PROFILE_MAX_ENTRIES=1000000
python3 -m sglang.launch_server --model-path Qwen/Qwen3-0.6B --port 30000 &
# once it serves:
curl -X POST http://127.0.0.1:30000/start_profile \
  -H 'Content-Type: application/json' -d '{"activities": ["MEM"]}'
# … your requests …
curl -X POST http://127.0.0.1:30000/stop_profile
# one .pickle a rank in snapshots
