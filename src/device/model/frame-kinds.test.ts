import { expect, test } from 'vitest';
import { loadCapture } from '../../testing/captures.ts';
import { classifyFrame, FrameKinds, isPythonFrame } from './frame-kinds.ts';

const SITE = '/usr/local/venv1/lib/python3.12/site-packages';

test.each([
  // the user's own, wherever it is
  ['main', '/workspace/experiments/scenarios.py', 'user'],
  ['train', 'train.py', 'user'],
  ['train', 'C:\\Users\\ann\\project\\train.py', 'user'],
  ['<module>', '<stdin>', 'user'],
  ['<module>', '<string>', 'user'],
  ['<cell line: 1>', '/tmp/ipykernel_1200/3041438571.py', 'user'],
  ['<module>', '<ipython-input-3-0f6a>', 'user'],
  // Python 3.13's prompt.
  ['<module>', '<python-input-0>', 'user'],
  ['<module>', '/root/.ipykernel/4821/command-1203-99', 'user'],
  ['forward', '/home/ann/torch/train.py', 'user'],
  ['forward', '/home/ann/torchvision-fork/model.py', 'user'],
  ['forward', '/home/ann/lib/model.py', 'user'],
  ['main', '/tmp/train.py', 'user'],
  ['main', '/tmp/my_training.py', 'user'],
  ['main', '/tmp/ray/session_1/runtime_resources/working_dir_files/_ray_pkg_4/train.py', 'user'],
  ['main', '/workspace/project/bin/train.py', 'user'],
  ['main', '/home/ann/.cache/bazel/execroot/train.py', 'user'],
  ['<module>', '<doctest model.GPT[2]>', 'user'],
  // generated, launched or wrapped: not a line of the user's
  ['propagate', '/tmp/torch_geometric.nn.conv.gat_conv_GATConv_propagate_x1y2z3ab.py', 'runtime'],
  ['collect', '/root/.cache/pyg/message_passing/torch_geometric.nn.conv.sage_conv.py', 'runtime'],
  ['forward', '/tmp/tmpq8b_x1zz.py', 'runtime'],
  ['call', '/tmp/tmpq8b_x1zz/7f/c7fqbz7amqyycmbfpfwukc7fqbz7amqyycmbfpfwuk.py', 'runtime'],
  ['__init__', '<string>', 'runtime'],
  ['forward', '<@beartype(model.GPT.forward) at 0x7f>', 'runtime'],
  ['_find_and_load', '<frozen importlib._bootstrap>', 'runtime'],
  ['_run_module_as_main', '<frozen runpy>', 'runtime'],
  ['__exit__', '/usr/lib/python3.12/contextlib.py', 'runtime'],
  ['run_path', '/usr/lib/python312.zip/runpy.py', 'runtime'],
  ['<module>', '/usr/local/bin/torchrun', 'runtime'],
  ['<module>', '/opt/miniconda3/envs/llm/bin/accelerate', 'runtime'],
  ['<module>', '/workspace/.venv/bin/lightning', 'runtime'],
  ['<module>', 'C:\\venv\\Scripts\\accelerate.exe\\__main__.py', 'runtime'],
  ['run', '/root/.vscode/extensions/ms-python/bundled/libs/debugpy/server/cli.py', 'runtime'],
  ['main', `${SITE}/torch/distributed/run.py`, 'pytorch'],
  ['decorate_context', `${SITE}/torch/utils/_contextlib.py`, 'pytorch'],
  ['launch_command', `${SITE}/accelerate/commands/launch.py`, 'framework'],
  ['forward', '/root/.cache/huggingface/modules/transformers_modules/x/modeling_x.py', 'framework'],
  ['forward', '/root/.cache/torch/hub/ultralytics_yolov5_master/models/yolo.py', 'framework'],
  // other people's Python
  ['compile', `${SITE}/triton/compiler/compiler.py`, 'pytorch'],
  ['forward', `${SITE}/torchvision/models/resnet.py`, 'framework'],
  ['_call_impl', `${SITE}/torch/nn/modules/module.py`, 'pytorch'],
  ['forward', `${SITE}/transformers/models/gpt2/modeling_gpt2.py`, 'framework'],
  ['f', '/usr/lib/python3/dist-packages/apex/amp.py', 'framework'],
  ['_call_impl', 'C:\\venv\\Lib\\site-packages\\torch\\nn\\modules\\module.py', 'pytorch'],
  ['run', '/opt/conda/lib/python3.10/threading.py', 'runtime'],
  ['run', 'C:\\Python312\\Lib\\threading.py', 'runtime'],
  ['run', '/usr/lib/python3.13t/threading.py', 'runtime'],
  ['_run_code', '<frozen runpy>', 'runtime'],
  ['forward', '<eval_with_key>.3', 'runtime'],
  ['step', '/home/ann/src/pytorch/torch/optim/adam.py', 'pytorch'],
  ['step', 'torch/optim/adam.py', 'pytorch'],
  ['_fn', '/build/torch/_dynamo/eval_frame.py', 'pytorch'],
  ['backward', '/build/torch/_tensor.py', 'pytorch'],
  ['call', '/tmp/torchinductor_root/7f/c7fqbz7amqyycmbfpfwuk.py', 'runtime'],
  // native frames that say what was computed
  ['at::native::layer_norm_cuda(at::Tensor const&, c10::ArrayRef<long>)', '??', 'cpp'],
  ['std::vector<at::Tensor, std::allocator<at::Tensor> > at::native::split(long)', '', 'cpp'],
  ['torch::autograd::generated::AddmmBackward0::apply(std::vector<at::Tensor>&&)', '??', 'cpp'],
  ['torch::autograd::generated::AddmmBackward0::release_variables()', '', 'cpp'],
  ['torch::autograd::AccumulateGrad::apply(std::vector<at::Tensor>&&)', '', 'cpp'],
  ['void flash::run_mha_fwd<64>(Flash_fwd_params&)', '/ext/flash_api.cu', 'cpp'],
  ['aten::mm', 'none', 'cpp'],
  ['torch/nn/modules/module.py(1501): _call_impl', 'none', 'pytorch'],
  ['train.py(12): train', 'none', 'user'],
  // native frames that every stack has
  ['torch::unwind::unwind()', '??', 'plumbing'],
  ['torch::CapturedTraceback::gather(bool, bool, bool)', '??', 'plumbing'],
  ['torch::cuda::(anonymous namespace)::gather_with_cpp()', 'memory_snapshot.cpp', 'plumbing'],
  [
    'c10::cuda::CUDACachingAllocator::Native::malloc(unsigned long)',
    'CUDACachingAllocator.cpp',
    'plumbing',
  ],
  ['torch::autograd::PyNode::apply(std::vector<at::Tensor>&&)', '', 'plumbing'],
  ['at::native::empty_cuda(c10::ArrayRef<long>)', '??', 'plumbing'],
  ['at::_ops::mm::redispatch(c10::DispatchKeySet, at::Tensor const&)', '??', 'plumbing'],
  [
    'at::Tensor at::_sum_to<c10::SymInt>(at::Tensor, c10::ArrayRef<c10::SymInt>, bool)',
    '',
    'plumbing',
  ],
  [
    'torch::autograd::Engine::thread_main(std::shared_ptr<torch::autograd::GraphTask> const&)',
    '??',
    'plumbing',
  ],
  ['std::error_code::default_error_condition() const', '??', 'plumbing'],
  ['THPVariable_clear(THPVariable*)', 'python_variable.cpp', 'plumbing'],
  ['_PyEval_EvalFrameDefault', '??', 'plumbing'],
  ['Py_RunMain', '??', 'plumbing'],
  ['__libc_start_main', '/lib/x86_64-linux-gnu/libc.so.6', 'plumbing'],
  ['', '', 'plumbing'],
])('%s in %s is %s', (name, filename, expected) => {
  const { kind, isPlumbing } = classifyFrame(name, filename);
  expect(isPlumbing ? 'plumbing' : kind).toBe(expected);
  expect(isPythonFrame(name, filename)).toBe(kind !== 'cpp');
});

test('a template of a thousand nested arguments is read quickly', () => {
  const name = `c10::impl::wrap${'<f'.repeat(1000)}${'>'.repeat(1000)}(int)`;
  expect(classifyFrame(name, '')).toMatchObject({ kind: 'cpp', isPlumbing: true });
});

test('in real captures the script is user code', () => {
  for (const name of ['train_gpt_cpp_stacks', 'compile_train', 'train_hf_gpt2']) {
    const { strings, frames } = loadCapture(`${name}.pickle.gz`);
    const kinds = new FrameKinds(strings, frames);
    const users = new Set<string>();
    for (let i = 0; i < frames.length; i++) {
      if (kinds.of(i).kind === 'user') users.add(strings.get(frames.filename[i]));
    }
    expect([...users]).toEqual(['/workspace/experiments/scenarios.py']);
  }
});
