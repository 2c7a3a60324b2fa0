import { readFile } from "node:fs/promises";

/** Said instead of what the kernel has to see to. */
export const NO_LANDLOCK: string | false =
  (await readFile("/sys/kernel/security/lsm", "utf8").catch(() => "unknown"))
      .match(/landlock|unknown/)
    ? false
    : "NOT TRIED: this kernel has no Landlock";
