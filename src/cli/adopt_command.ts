import { formatOwner, formatStackArguments } from "../model/mod.ts";
import { stackCommand } from "./stack_command.ts";

/** `stackwright adopt` */
export const adoptCommand = stackCommand({
  help: `Usage: stackwright adopt [--json] [--context NAME] [--source REPOSITORY]
                         [--reference BRANCH] [--releases-of REPOSITORY]
                         [--also CONTEXT[,CONTEXT]] <stack>

A stack belongs to the repository, and the branch, that deployed it. Another one with the same stack
name is refused, until this command hands the stack to it; its next deployment then takes it over.
Without --source it is the one that was refused. Whose it was before is refused from then on. A
project that somebody made with docker compose belongs to nobody and needs no adopt: the first
deployment of its name takes it over.
Its releases stay the former owner's, and no rollback chooses them: their containers would get the
new owner's data. For a repository that moved, --releases-of hands those of its old place over, too.
Where several contexts lead to one engine, --also names the others in which another owner has the
stack: it is handed over in all of them, or not at all.

Exits 0 when it is handed over, 1 when --source is missing and nobody, or several, were refused,
when POLL_CONFIG is set but does not name --source, which was not refused either, when there is
no release of --releases-of, or when another owner has it by a context of the same engine that
--also does not name, or of one that cannot be asked and never said which it is.
`,
  begins: true,
  options: ["source", "reference", "releases-of", "also"],
  async ask({ operations, call, key, values }) {
    const { source = "", reference = "", "releases-of": of = "", also: contexts = "" } = values;
    const also = contexts.split(",").filter((each) => each !== "");
    const asked = { ...key, source, reference, releases_of: of, also };
    const { owner, before, asked: known } = await operations.adopt.call(asked, call);
    const [is, was] = [formatOwner(owner), before && formatOwner(before)];
    const isAny = owner.source === before?.source && owner.reference === "";
    const past = isAny ? ", by any branch" : was === undefined ? "" : `, no longer to ${was}`;
    const whose = is === was ? `${is} already` : `${is} now${past}`;
    const there = also.length === 0 ? "" : `; by context ${also.join(", ")}, too`;
    const back = was === undefined ? `, or stackwright forget ${formatStackArguments(key)}` : "";
    const unknown = known
      ? ""
      : `; no deployment of it was refused before (what a plan refuses is not kept): see that it is spelt right${back}`;
    const releases = of === "" ? "" : `, with the releases of ${of}`;
    const text = `${key.name} belongs to ${whose}${releases}${there}${unknown}\n`;
    return [{ owner, before, asked: known }, text];
  },
});
