import { formatOwner } from "../model/mod.ts";
import { stackCommand } from "./stack_command.ts";

/** `stackwright adopt` */
export const adoptCommand = stackCommand({
  help: `Usage: stackwright adopt [--json] [--context NAME] [--source REPOSITORY]
                         [--reference BRANCH] [--releases-of REPOSITORY] <stack>

A stack belongs to the repository, and the branch, that deployed it. Another one with the same stack
name is refused, until this command hands the stack to it; its next deployment then takes it over.
Without --source it is the one that was refused. Whose it was before is refused from then on.
Other contexts that lead to the same engine by then are named: it is handed over there, too.
Its releases stay the former owner's, and no rollback chooses them: their containers would get the
new owner's data. For a repository that moved, --releases-of hands those of its old place over, too.

Exits 0 when it is handed over, 1 when --source is missing and nobody, or several, were refused, or
when there is no release of --releases-of.
`,
  options: ["source", "reference", "releases-of"],
  async ask({ operations, call, key, values }) {
    const { source = "", reference = "", "releases-of": of = "" } = values;
    const asked = { ...key, source, reference, releases_of: of };
    const { owner, before, also } = await operations.adopt.call(asked, call);
    const [is, was] = [formatOwner(owner), before && formatOwner(before)];
    const past = was === undefined ? "" : `, no longer to ${was}`;
    const whose = is === was ? `${is} already` : `${is} now${past}`;
    const contexts = `context${also.length === 1 ? "" : "s"} ${also.join(", ")}`;
    const there = also.length === 0 ? "" : `; also in ${contexts}, which led to the same engine`;
    return [{ owner, before, also }, `${key.name} belongs to ${whose}${there}\n`];
  },
});
