/** Whether a version, `2.30.1` or `v2.30`, is this one or newer; `unclear` for any other text. */
export function isSince(
  version: string,
  [major, minor]: readonly [major: number, minor: number],
  unclear = false,
): boolean {
  const [, has, then] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  if (has === undefined) return unclear;
  return Number(has) > major || (Number(has) === major && Number(then) >= minor);
}
