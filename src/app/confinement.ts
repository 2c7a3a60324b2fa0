import { Compose, findComposeProgram, programEnvironment } from "../deploy/mod.ts";
import { messageOf } from "../model/mod.ts";
import type { Settings } from "../settings/mod.ts";
import { scratchPrefix, SILENT_LOG } from "../system/mod.ts";
import { engineEnvironment } from "./engine_environment.ts";
import type { System } from "./system.ts";

/** A file that everybody may read, and that rendering has no business with. */
const NOT_OURS = "/proc/version";

/** Whether the kernel confines what renders compose files. */
interface ConfinementFinding {
  /** `undefined` where it does not: the service works without. */
  readonly isFine: boolean | undefined;
  readonly says: string;
}

/**
 * Whether the kernel confines rendering, as found out by a rendering that includes a file which it may
 * not read, and why it does not. Never rejects but with the signal's reason.
 */
export async function confinementFinding(
  settings: Settings,
  { commands, files, env }: Pick<System, "commands" | "files" | "env">,
  signal: AbortSignal,
): Promise<ConfinementFinding> {
  const environment = engineEnvironment(settings, env);
  const program = await findComposeProgram(files, environment);
  const confinement = await commands.confinement?.(program) ??
    { why: "only the executable that ./scripts/build makes has the kernel do so" };
  if ("why" in confinement) {
    return { isFine: undefined, says: `the kernel does not confine rendering: ${confinement.why}` };
  }
  const compose = new Compose({
    commands,
    findProgram: () => Promise.resolve(program),
    programEnvironment: programEnvironment(environment),
    log: SILENT_LOG,
    scratch: { files, prefix: scratchPrefix("render") },
  });
  const by = `Landlock, version ${confinement.abi} of its interface`;
  const model = { include: [NOT_OURS], services: {} };
  const project = { name: "doctor", directory: "/dev", files: ["-"], envFiles: [], profiles: [] };
  const said = await compose.render({ project, variables: {}, model }, signal)
    .then(() => `compose reads ${NOT_OURS}`, messageOf);
  signal.throwIfAborted();
  return said.includes(`${NOT_OURS}: permission denied`)
    ? { isFine: true, says: `the kernel confines rendering (${by})` }
    : { isFine: false, says: `the kernel was to confine rendering (${by}), but ${said}` };
}
