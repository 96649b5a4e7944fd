export interface Sample {
  readonly url: string;
  readonly title: string;
  readonly about: string;
}

/** Real recordings on an H200, served with the page: none where the page is but one file. */
export const SAMPLES: readonly Sample[] = import.meta.env.VITE_SINGLE
  ? []
  : [
      {
        url: 'samples/train_gpt_small.pickle.gz',
        title: 'Healthy training',
        about: 'A small GPT: the same waves every step, AdamW state from step 1 on.',
      },
      {
        url: 'samples/leak_forward_hook.pickle.gz',
        title: 'A leak',
        about: 'A forward hook keeps a tensor each step, and memory climbs.',
      },
      {
        url: 'samples/oom_fragmented.pickle.gz',
        title: 'Out of memory',
        about: 'It fails with 2 GiB allocated of 6 GiB reserved.',
      },
      {
        url: 'samples/frag_gpt_varlen.pickle.gz',
        title: 'Fragmentation',
        about: 'Varying sequence lengths: three times as much reserved as used.',
      },
    ];
