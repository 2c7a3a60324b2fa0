import { stackCommand } from "./stack_command.ts";

/** `stackwright forget` */
export const forgetCommand = stackCommand({
  help: `Usage: stackwright forget [--json] [--context NAME] <stack>

Forgets a stack of which no release is deployed (its first deployment failed or was refused), whose
context is not there any more (docker context rm), so that no engine can be asked to remove it, or
that another context of its engine has deployed since. What is on the engine is left alone, and so
is what lies in DATA_DIR for it; explain and history still know it. A source that names it deploys
it again.

Exits 0 when it is forgotten, 1 when it is deployed on a context that is there, or nothing is
recorded about it.
`,
  async ask({ operations, call, key }) {
    const view = await operations.forget.call(key, call);
    return [view, `${key.name} on ${key.context} is forgotten; what is there was left alone\n`];
  },
});
