import { expect, test } from 'vitest';
import { loadCapture } from '../../testing/captures.ts';
import { classifyFrame, FrameRoles } from './frame-roles.ts';

const SITE = '/usr/local/venv1/lib/python3.12/site-packages';

test.each([
  // the user's own, wherever it lies
  ['main', '/workspace/experiments/scenarios.py', 'user'],
  ['train', 'train.py', 'user'],
  ['train', 'C:\\Users\\ann\\project\\train.py', 'user'],
  ['<module>', '<stdin>', 'user'],
  ['<module>', '<string>', 'user'],
  ['<cell line: 1>', '/tmp/ipykernel_1200/3041438571.py', 'user'],
  ['<module>', '<ipython-input-3-0f6a>', 'user'],
  ['<module>', '/root/.ipykernel/4821/command-1203-99', 'user'],
  ['forward', '/home/ann/torch/train.py', 'user'],
  ['forward', '/home/ann/torchvision-fork/model.py', 'user'],
  ['forward', '/home/ann/lib/model.py', 'user'],
  // Python of others
  ['_call_impl', `${SITE}/torch/nn/modules/module.py`, 'library'],
  ['forward', `${SITE}/transformers/models/gpt2/modeling_gpt2.py`, 'library'],
  ['f', '/usr/lib/python3/dist-packages/apex/amp.py', 'library'],
  ['_call_impl', 'C:\\venv\\Lib\\site-packages\\torch\\nn\\modules\\module.py', 'library'],
  ['run', '/opt/conda/lib/python3.10/threading.py', 'library'],
  ['run', 'C:\\Python312\\Lib\\threading.py', 'library'],
  ['run', '/usr/lib/python3.13t/threading.py', 'library'],
  ['_run_code', '<frozen runpy>', 'library'],
  ['forward', '<eval_with_key>.3', 'library'],
  ['step', '/home/ann/src/pytorch/torch/optim/adam.py', 'library'],
  ['step', 'torch/optim/adam.py', 'library'],
  ['_fn', '/build/torch/_dynamo/eval_frame.py', 'library'],
  ['backward', '/build/torch/_tensor.py', 'library'],
  ['call', '/tmp/torchinductor_root/7f/c7fqbz7amqyycmbfpfwuk.py', 'library'],
  // native frames that say what was computed
  ['at::native::layer_norm_cuda(at::Tensor const&, c10::ArrayRef<long>)', '??', 'library'],
  ['std::vector<at::Tensor, std::allocator<at::Tensor> > at::native::split(long)', '', 'library'],
  ['torch::autograd::generated::AddmmBackward0::apply(std::vector<at::Tensor>&&)', '??', 'library'],
  ['void flash::run_mha_fwd<64>(Flash_fwd_params&)', '/ext/flash_api.cu', 'library'],
  ['aten::mm', 'none', 'library'],
  ['torch/nn/modules/module.py(1501): _call_impl', 'none', 'library'],
  ['train.py(12): train', 'none', 'user'],
  // native frames that every stack has
  ['torch::unwind::unwind()', '??', 'noise'],
  ['torch::CapturedTraceback::gather(bool, bool, bool)', '??', 'noise'],
  ['torch::cuda::(anonymous namespace)::gather_with_cpp()', 'memory_snapshot.cpp', 'noise'],
  [
    'c10::cuda::CUDACachingAllocator::Native::malloc(unsigned long)',
    'CUDACachingAllocator.cpp',
    'noise',
  ],
  ['at::native::empty_cuda(c10::ArrayRef<long>)', '??', 'noise'],
  ['at::_ops::mm::redispatch(c10::DispatchKeySet, at::Tensor const&)', '??', 'noise'],
  [
    'at::Tensor at::_sum_to<c10::SymInt>(at::Tensor, c10::ArrayRef<c10::SymInt>, bool)',
    '',
    'noise',
  ],
  [
    'torch::autograd::Engine::thread_main(std::shared_ptr<torch::autograd::GraphTask> const&)',
    '??',
    'noise',
  ],
  ['torch::autograd::generated::AddmmBackward0::release_variables()', '', 'noise'],
  ['std::error_code::default_error_condition() const', '??', 'noise'],
  ['THPVariable_clear(THPVariable*)', 'python_variable.cpp', 'noise'],
  ['_PyEval_EvalFrameDefault', '??', 'noise'],
  ['Py_RunMain', '??', 'noise'],
  ['__libc_start_main', '/lib/x86_64-linux-gnu/libc.so.6', 'noise'],
  ['', '', 'noise'],
])('%s in %s is %s', (name, filename, role) => {
  expect(classifyFrame(name, filename).role).toBe(role);
});

test('a template of a thousand nested arguments is read at once', () => {
  const name = `c10::impl::wrap${'<f'.repeat(1000)}${'>'.repeat(1000)}(int)`;
  expect(classifyFrame(name, '').role).toBe('noise');
});

test('in real captures the user is who wrote the script', () => {
  for (const name of ['train_gpt_cpp_stacks', 'compile_train', 'train_hf_gpt2']) {
    const { strings, frames } = loadCapture(`${name}.pickle.gz`);
    const roles = new FrameRoles(strings, frames);
    const users = new Set<string>();
    for (let i = 0; i < frames.length; i++) {
      if (roles.role(i) === 'user') users.add(strings.get(frames.filename[i]));
    }
    expect([...users]).toEqual(['/workspace/experiments/scenarios.py']);
  }
});
