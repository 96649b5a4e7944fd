import os

os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"  # the engine in this process, where we record

import torch
from vllm import LLM

torch.cuda.memory._record_memory_history(max_entries=1_000_000, stacks="python")
llm = LLM(model="Qwen/Qwen3-0.6B", enforce_eager=True)
llm.generate(prompts)
torch.cuda.memory._dump_snapshot("vllm.pickle")
