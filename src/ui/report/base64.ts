/** The browser's own encoder: no string of millions of letters is put together here. */
export async function base64Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error('The data could not be encoded.'));
    reader.readAsDataURL(new Blob([bytes]));
  });
  return url.slice(url.indexOf(',') + 1);
}
