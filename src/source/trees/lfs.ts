/** Sizes in bytes between which every pointer file of Git LFS lies. */
export const POINTER_SIZES = { least: 100, most: 1024 } as const;

const POINTER = /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n/;

/** True when a file is the pointer that Git LFS commits in place of the real content. */
export function isLfsPointer(bytes: Uint8Array): boolean {
  if (bytes.length < POINTER_SIZES.least || bytes.length > POINTER_SIZES.most) return false;
  const text = new TextDecoder().decode(bytes);
  return POINTER.test(text) && /^oid sha256:[0-9a-f]{64}$/m.test(text);
}
