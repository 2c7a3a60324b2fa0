/** Words about the release that was put back after a newer one failed; empty where none was. */
export function putBackText(
  { rolled_back: failed, number }: {
    readonly rolled_back?: number | undefined;
    readonly number?: number | undefined;
  },
): string {
  if (failed === undefined || number === undefined) return "";
  return `release ${failed} failed, and release ${number} was put back`;
}
