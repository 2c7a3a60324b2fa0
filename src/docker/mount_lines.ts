/** A line of `/proc/self/mountinfo`. */
export interface MountLine {
  /** Number of the disk. */
  readonly disk: string;
  /** Root of the mount in its file system. */
  readonly root: string;
  /** Where it is mounted. */
  readonly at: string;
  readonly type: string;
  /** Options of the file system. */
  readonly options: string;
}

/** The lines of the text of `/proc/self/mountinfo`, in their order: a later one hides an earlier one. */
export function mountLines(text: string): MountLine[] {
  return text.split("\n").flatMap((line) => {
    const [before = "", after = ""] = line.split(" - ", 2);
    const [, , disk, root, at] = before.split(" ").map(unescaped);
    if (disk === undefined || root === undefined || at === undefined) return [];
    const [type = "", , options = ""] = after.split(" ");
    return [{ disk, root, at, type, options }];
  });
}

/** The kernel writes blanks and backslashes in octal digits. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits) => String.fromCharCode(parseInt(digits, 8)));
}
