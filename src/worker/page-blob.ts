/**
 * A file that the page reads for its worker. In a page opened from disk, WebKit gives workers another origin, and
 * they cannot read a file that the page was given.
 *
 *   worker                          page
 *   {from, to}                   →  reads that part
 *                                ←  {buffer} or {fault}, in request order
 */

/** The used part of a Blob. */
export interface ReadableBlob extends Pick<Blob, 'size' | 'type'> {
  slice(from: number, to: number): Pick<Blob, 'arrayBuffer'>;
  /** Only in some browsers. */
  stream?(): Blob['stream'] extends () => infer Stream ? Stream : never;
}

interface Part {
  readonly from: number;
  readonly to: number;
}
type Answer = { readonly buffer: ArrayBuffer } | { readonly fault: string };

/** Reads what the other end of the port requests, until that end closes. */
export function servePageBlob(blob: Blob): MessagePort {
  const { port1, port2 } = new MessageChannel();
  let last: Promise<unknown> = Promise.resolve();
  port1.onmessage = ({ data: { from, to } }: MessageEvent<Part>) => {
    const reading = blob.slice(from, to).arrayBuffer();
    last = last.then(() =>
      reading.then(
        (buffer) => port1.postMessage({ buffer } satisfies Answer, [buffer]),
        (error) => port1.postMessage({ fault: error.message } satisfies Answer),
      ),
    );
  };
  return port2;
}

/** The worker's side of {@link servePageBlob}. */
export function pageBlob(port: MessagePort, { size, type }: Pick<Blob, 'size' | 'type'>) {
  const waiting: ((answer: Answer) => void)[] = [];
  port.onmessage = ({ data }: MessageEvent<Answer>) => waiting.shift()?.(data);
  const read = (part: Part) =>
    new Promise<ArrayBuffer>((resolve, reject) => {
      waiting.push((answer) => {
        if ('buffer' in answer) resolve(answer.buffer);
        else reject(new Error(answer.fault));
      });
      port.postMessage(part);
    });
  return {
    size,
    type,
    slice: (from: number, to: number) => ({ arrayBuffer: () => read({ from, to }) }),
  } satisfies ReadableBlob;
}
