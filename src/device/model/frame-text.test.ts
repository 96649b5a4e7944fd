import { describe, expect, it, test } from 'vitest';
import { loadCapture } from '../../testing/captures.ts';
import {
  frameLabel,
  frameLocation,
  framePath,
  fullPlace,
  functionText,
  leafText,
  siteLabel,
} from './frame-text.ts';

const REDUCE =
  'void at::native::gpu_reduce_kernel<float, float, 4, 4, at::native::func_wrapper_t<float, __nv_hdl_wrapper_t<false, true> > >(at::TensorIterator&, double)';

describe('a frame', () => {
  it.each([
    ['step', '/home/me/run/train.py', 21, 'train.py:21 (step)'],
    ['step', 'C:\\me\\train.py', 0, 'train.py (step)'],
    ['<lambda>', '<stdin>', 3, '<stdin>:3 (<lambda>)'],
    [
      'torch::autograd::generated::AddmmBackward0::apply(std::vector<at::Tensor, std::allocator<at::Tensor> >&&)',
      '??',
      0,
      'AddmmBackward0 (backward pass)',
    ],
    [
      'torch::autograd::generated::ReluBackward0::release_variables()',
      '',
      0,
      'ReluBackward0 (frees what it saved)',
    ],
    [
      REDUCE,
      'tmpxft_00005692_00000000-6_ReduceSumProdKernel.compute_120.cudafe1.cpp',
      0,
      'gpu_reduce_kernel',
    ],
    [
      'at::_ops::sum_dim_IntList::redispatch(c10::DispatchKeySet, at::Tensor const&)',
      '??',
      0,
      'sum_dim_IntList',
    ],
    ['torch::autograd::Node::operator()(std::vector<at::Tensor>&&)', '??', 0, 'Node'],
    ['at::native::structured_sum_out::impl(at::Tensor const&)', '', 0, 'structured_sum_out'],
    [
      'at::native::(anonymous namespace)::layer_norm_cuda(at::Tensor const&)',
      '',
      0,
      'layer_norm_cuda',
    ],
    [
      'c10::TensorImpl::~TensorImpl() [clone .localalias]',
      'TensorImpl.cpp',
      0,
      'TensorImpl.cpp (~TensorImpl)',
    ],
    [
      'void flash::run_mha_fwd<64>(Flash_fwd_params&)',
      '/ext/flash_api.cu',
      88,
      'flash_api.cu:88 (run_mha_fwd)',
    ],
    [
      'torch/nn/modules/module.py(1501): _call_impl',
      'none',
      0,
      'torch/nn/modules/module.py(1501): _call_impl',
    ],
    ['Py_RunMain', '??', 0, 'Py_RunMain'],
  ])('%s in %s:%d is %s', (name, filename, line, text) => {
    expect(frameLabel({ name, filename, line })).toBe(text);
  });

  it('has no place if the file is unknown', () => {
    expect(frameLocation({ name: 'f()', filename: '??', line: 0 })).toBeUndefined();
    expect(framePath({ name: 'f', filename: '/a/b/train.py', line: 4 })).toBe('b/train.py:4');
  });

  it('is copied with its whole path, or its whole name if the file is unknown', () => {
    expect(fullPlace({ name: 'f', filename: '/a/b/train.py', line: 4 })).toBe('/a/b/train.py:4');
    expect(fullPlace({ name: 'a::f<int>(int)', filename: '??', line: 0 })).toBe('a::f<int>(int)');
  });

  it('of a name or a path of 10 kB is cut', () => {
    expect(functionText({ name: 'f'.repeat(10_000), filename: 'a.py' })).toHaveLength(80);
    const filename = `/x/${'d'.repeat(10_000)}/${'f'.repeat(10_000)}.py`;
    expect(framePath({ name: 'f', filename, line: 4 })).toHaveLength(82);
    expect(frameLocation({ name: 'f', filename, line: 4 })).toMatch(/^…f{76}\.py:4$/);
  });

  it('says that a function has no name', () => {
    expect(functionText({ name: '', filename: '' })).toBe('unnamed function');
  });

  it('in the backward pass says so once', () => {
    const isBackward = true;
    const operator = 'at::_ops::add_Tensor::call(at::Tensor const&)';
    const node = 'torch::autograd::AccumulateGrad::apply(std::vector<at::Tensor>&&)';
    expect(functionText({ name: operator, filename: '??', isBackward })).toBe(
      'add_Tensor (backward pass)',
    );
    expect(functionText({ name: node, filename: '??', isBackward })).toBe(
      'AccumulateGrad (backward pass)',
    );
  });
});

test('in a recording of default stacks every frame has a short name without types', () => {
  const { strings, frames } = loadCapture('default_stacks/frag_gpt_varlen.pickle.gz');
  for (let i = 0; i < frames.length; i++) {
    const frame = {
      name: strings.get(frames.name[i]),
      filename: strings.get(frames.filename[i]),
      line: 0,
    };
    expect(frameLabel(frame)).not.toMatch(/\?\?|std::|tmpxft|at::|c10::/);
    expect(frameLabel(frame).length).toBeLessThan(130);
  }
});

test('a call site names the operation that its line led to', () => {
  const line = { filename: '/workspace/finetune.py', name: '<module>', line: 24 };
  const [leaf, generated, node] = [
    { filename: '/x/site-packages/transformers/sdpa_attention.py', name: 'sdpa', line: 96 },
    { filename: '/tmp/torchinductor_me/7f/c7fqbz.py', name: 'call', line: 1385 },
    { filename: '??', name: 'torch::autograd::AccumulateGrad::apply()', line: 0 },
  ];
  expect(siteLabel(line, leaf)).toBe('finetune.py:24 (<module>) · sdpa in sdpa_attention.py:96');
  expect(siteLabel(line, generated)).toBe(
    'finetune.py:24 (<module>) · call in generated code:1385',
  );
  expect(siteLabel(line, undefined)).toBe('finetune.py:24 (<module>)');
  expect(leafText(node)).toBe('AccumulateGrad (backward pass)');
});
