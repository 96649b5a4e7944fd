// @vitest-environment jsdom
import { fireEvent, render, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { OomMessageBox } from './oom-message-box.tsx';

it('reads an error message without any snapshot', () => {
  const { container } = render(<OomMessageBox />);
  const box = screen.getByRole('textbox', { name: /Paste the whole message/ });
  const paste = (value: string) => fireEvent.change(box, { target: { value } });
  paste(
    'CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 24.00 GiB total capacity; 19.40 GiB already allocated; 512.00 MiB free; 22.10 GiB reserved in total by PyTorch)',
  );
  expect(container.textContent).toContain('Out of memory: memory is fragmented');
  expect(container.textContent).toContain('reserved 22.10 GiB − in use 19.40 GiB = 2.70 GiB free');
  expect(container.textContent).toContain('_record_memory_history');
  paste(
    'Allocation on device 0 would exceed allowed memory. (out of memory)\nCurrently allocated     : 6.89 GiB\nRequested               : 320.00 MiB\nDevice limit            : 23.69 GiB\nFree (according to CUDA): 2.94 MiB\nPyTorch limit (set by user-supplied memory fraction)\n                        : 17179869184.00 GiB',
  );
  expect(container.textContent).toContain(
    '320.00 MiB was requested, and the GPU had 2.94 MiB free.',
  );
  expect(container.textContent).toContain('--disable-cuda-malloc');
  paste('NCCL error: unhandled system error');
  expect(container.textContent).toContain('This isn’t a PyTorch out-of-memory message.');
  paste('CUDA out of memory. Tried to allocate 2.00 GiB');
  expect(container.textContent).toContain('it does not say how much PyTorch had allocated');
});
