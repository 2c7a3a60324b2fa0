import { posix } from "node:path";
import {
  configFileNames,
  isMigrationFile,
  MOST_BYTES,
  parseDeployments,
} from "../../config/mod.ts";
import {
  type DeclaredDeployment,
  errors,
  type Revision,
  type SourceRequest,
  type StackwrightError,
  utf8,
} from "../../model/mod.ts";
import { sourceAsOwner, writtenSecrets } from "../../system/mod.ts";
import { warnOf } from "../expand_deployments.ts";
import type { PipelineParts } from "../parts.ts";

/**
 * The deployments of a source: the inline ones of the request when it has any, else those of the
 * configuration file at the revision. Returns them only if all are valid; whether their names are
 * unique is checked after discoveries are expanded.
 *
 * Throws `config_not_found` for a missing file, `config_invalid` with every problem and its position.
 */
export async function readDeployments(
  parts: PipelineParts,
  { target, deployments, withFiles = deployments.length === 0 }: SourceRequest,
  revision: Revision,
  signal: AbortSignal,
): Promise<readonly DeclaredDeployment[]> {
  if (!withFiles) return deployments;
  const base = parts.options.configBaseDir;
  const names = configFileNames(target);
  for (const name of names) {
    const file = posix.join(base, name);
    const bytes = await parts.source.read(revision, file, signal, MOST_BYTES);
    if (bytes === undefined) continue;
    if (isMigrationFile(name)) {
      tellMigrated(parts, revision, `${file}; its name here is ${names[0]}`);
    }
    const owner = sourceAsOwner(revision.source.name);
    const documents = await parts.turns.by(owner).take(() => {
      const text = utf8(bytes);
      // Problems quote values of the file.
      parts.secrets.hide(writtenSecrets(text), owner);
      return parseDeployments(text, {
        file,
        trusted: false,
        allowLocalRepositoryUrl: parts.options.allowLocalRepositoryUrl,
      });
    }, signal);
    warnOf(parts, revision, documents.flatMap((each) => each.warnings));
    return [...deployments, ...documents];
  }
  throw notFound(revision, names, base === "." ? "the root" : base, target);
}

function notFound(
  { source, reference }: Revision,
  names: readonly string[],
  where: string,
  target: string,
): StackwrightError {
  return errors.config_not_found(
    `${source.name} has no deployment configuration at ${reference}: ` +
      `expected ${names.slice(0, -1).join(", ")} or ${names.at(-1)} in ${where}` +
      (target === ""
        ? "; files of targets, such as .stackwright.nas.yaml, are read where the target is named"
        : "; with a target there is no other file"),
  );
}

/** Logs at `info` once for each file of a repository, since it is read at every poll. */
function tellMigrated({ log, mentioned }: PipelineParts, { source }: Revision, what: string): void {
  const known = `${source.name} ${what}`;
  const repository = source.name;
  log[mentioned.has(known) ? "debug" : "info"](`reading ${what}`, { repository });
  mentioned.add(known);
}
