/** The container whose namespace a mode such as `container:x` shares, by its name or id, if any. */
export function sharedContainer(mode: string): string | undefined {
  return /^container:([^]+)$/.exec(mode)?.[1];
}
