import { posix } from "node:path";
import { configFileNames, isMigrationFile, MOST_BYTES, parseDeployments } from "../config/mod.ts";
import {
  type DeclaredDeployment,
  type Revision,
  type SourceRequest,
  StackwrightError,
} from "../model/mod.ts";
import { sourceLocation } from "../source/mod.ts";
import { writtenSecrets } from "../system/mod.ts";
import type { PipelineParts } from "./parts.ts";

/**
 * The deployments of a source: the inline ones of the request when it has any, else those of the
 * configuration file at the revision. All of them are valid, or none is returned; whether their
 * names are unique is known when discoveries are expanded.
 *
 * Throws `config_not_found` when the file is missing, `config_invalid` with every problem and its
 * position.
 */
export async function readDeployments(
  parts: PipelineParts,
  request: SourceRequest,
  revision: Revision,
  signal: AbortSignal,
): Promise<readonly DeclaredDeployment[]> {
  if (request.deployments.length > 0) return request.deployments;
  return await readConfigFile(parts, request.target, revision, signal);
}

async function readConfigFile(
  parts: PipelineParts,
  target: string,
  revision: Revision,
  signal: AbortSignal,
): Promise<readonly DeclaredDeployment[]> {
  const base = parts.options.configBaseDir;
  const names = configFileNames(target);
  for (const name of names) {
    const file = posix.join(base, name);
    const bytes = await parts.source.read(revision, file, signal);
    if (bytes === undefined) continue;
    if (isMigrationFile(name)) parts.log.debug(`reading ${file}; its name here is ${names[0]}`);
    const text = new TextDecoder().decode(bytes);
    // What is wrong is described with the values that are there; nothing of a larger file is.
    if (bytes.length <= MOST_BYTES) {
      parts.secrets.hide(writtenSecrets(text), `source ${revision.source.name}`);
    }
    const documents = parseDeployments(text, {
      file,
      trusted: false,
      allowLocalRepositoryUrl: parts.options.allowLocalRepositoryUrl,
    });
    for (const warning of documents.flatMap((each) => each.warnings)) {
      parts.log.warning(warning.message, { file: warning.file, path: warning.path });
    }
    return documents;
  }
  const where = base === "." ? "the root" : base;
  throw new StackwrightError(
    "config_not_found",
    `${revision.source.name} has no deployment configuration at ${revision.reference}: ` +
      `expected ${names.slice(0, -1).join(", ")} or ${names.at(-1)} in ${where}` +
      (target === "" ? "" : `; with a target there is no other file`),
  );
}

/** Artifacts are announced and polled like repositories, but nothing reads them yet. */
export function requireGit({ kind, url }: SourceRequest): void {
  if (kind === "git") return;
  const { name } = sourceLocation(kind, url);
  throw new StackwrightError(
    "unsupported",
    `${name} is an OCI artifact, and this version deploys from Git repositories only`,
  );
}
