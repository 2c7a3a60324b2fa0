import { formatStackArguments } from "../model/mod.ts";
import { peopleTime } from "./people_time.ts";
import { stackCommand } from "./stack_command.ts";

/** The note of an answer, to end a sentence with. */
export function noted({ note }: { readonly note?: string | undefined }): string {
  return note === undefined ? "" : `; ${note}`;
}

/** `stackwright hold` */
export const holdCommand = stackCommand({
  help: `Usage: stackwright hold [--json] [--context NAME] [--reason TEXT] [--until WHEN] <stack>

Holds a stack as it is: no update of its source reaches it, whoever asks, while what is missing of
its release still comes back. WHEN is a time (2026-05-04T18:00:00Z) or a duration (36h, 2d, 1w); a
day has 24 hours. Without it, the hold lasts until stackwright resume. The service may run
meanwhile.

Exits 0 when the stack is held, 1 when nothing is recorded about it, 64 when WHEN is none.
`,
  options: ["reason", "until"],
  async ask({ operations, call, key, values: { reason, until }, io }) {
    const held = await operations.hold.call({ ...key, reason, until }, call);
    const end = held.until === undefined
      ? `stackwright resume ${formatStackArguments(key)}`
      : peopleTime(io)(new Date(held.until));
    return [held, `${key.name} is held until ${end}${noted(held)}\n`];
  },
});

/** `stackwright resume` */
export const resumeCommand = stackCommand({
  help: `Usage: stackwright resume [--json] [--context NAME] <stack>

Lets a stack that was held, or rolled back, follow its source again from the next look on; until
that look, status and explain still show what was decided before. Exits 0, also when nobody held it,
and 1 when nothing is recorded about the stack.
`,
  async ask({ operations, call, key }) {
    const view = await operations.resume.call(key, call);
    const what = view.resumed ? "follows its source again" : "was not held";
    return [view, `${key.name} ${what}${noted(view)}\n`];
  },
});
