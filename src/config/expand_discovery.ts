import { posix } from "node:path";
import {
  type DeclaredDeployment,
  type Deployment,
  errors,
  isStackwrightError,
  type Problem,
  type StackwrightError,
} from "../model/mod.ts";
import { parseDeploymentOverride } from "./deployment.ts";
import type { DeploymentDocument } from "./deployment_reader.ts";
import { overrideDeployment } from "./deployment_override.ts";
import { checkDeployment } from "./check_deployment.ts";
import type { DiscoveredDirectory } from "./discover.ts";
import { invalidInput, ProblemSink } from "./problem_sink.ts";

/** A stack that was discovered. */
export interface DiscoveredDeployment {
  /** Directory of the stack, even if its override sets another working directory. */
  readonly directory: string;
  readonly declared: DeclaredDeployment;
  /** The override in its directory, if there is one. */
  readonly override?: { readonly file: string; readonly document: DeploymentDocument };
}

/** A directory that is a stack and cannot be deployed as it is. */
interface FailedDirectory {
  readonly directory: string;
  /** The name it would have had. */
  readonly name: string;
  readonly error: StackwrightError;
}

/** The deployments that a discovery makes of its base. */
export interface ExpandedDiscovery {
  readonly stacks: readonly DiscoveredDeployment[];
  readonly failures: readonly FailedDirectory[];
  /** Keys that were ignored, for their author to know. */
  readonly warnings: readonly Problem[];
}

interface DiscoveryFindings {
  readonly directories: readonly DiscoveredDirectory[];
  /** Texts of the overrides by path; overrides that are links are missing. */
  readonly overrides: ReadonlyMap<string, string>;
  /** Name of the repository, and of a stack in the root when the base has no name. */
  readonly rootName: string;
  /** Whether the directories are in another repository than the configuration. */
  readonly isElsewhere?: boolean;
}

/**
 * Makes one deployment of every discovered directory: a copy of the base with the directory and its
 * name, and the directory's override on top. An override that is invalid costs its own stack only.
 * A pure function of its arguments; the base, which may be used again, is not changed.
 */
export function expandDiscovery(
  base: DeclaredDeployment,
  { directories, overrides, rootName, isElsewhere = false }: DiscoveryFindings,
): ExpandedDiscovery {
  const stacks: DiscoveredDeployment[] = [];
  const failures: FailedDirectory[] = [];
  const warnings: Problem[] = [];
  for (const found of directories) {
    const name = nameOf(found.path, base, rootName);
    const inherited = inherit(base.deployment, found.path, name);
    try {
      const document = readOverride(found, overrides);
      const merged = merge(base, inherited, { ...found, isElsewhere }, document);
      stacks.push({
        directory: found.path,
        declared: merged.declared,
        ...(document === undefined ? {} : { override: { file: found.override ?? "", document } }),
      });
      warnings.push(...merged.warnings);
    } catch (error) {
      if (!isStackwrightError(error)) throw error;
      failures.push({ directory: found.path, name, error });
    }
  }
  return { stacks, failures, warnings };
}

/** The name of a stack: in doco-cd, every directory that is called as the repository is named as its root. */
function nameOf(
  path: string,
  { deployment, isMigrated }: DeclaredDeployment,
  rootName: string,
): string {
  const name = posix.basename(path);
  if (path === ".") return deployment.name || rootName;
  return isMigrated && name === rootName ? deployment.name || name : name;
}

function inherit(base: Deployment, workingDir: string, name: string): Deployment {
  return { ...base, name, workingDir, autoDiscovery: { ...base.autoDiscovery, enabled: false } };
}

function readOverride(
  { override }: DiscoveredDirectory,
  texts: ReadonlyMap<string, string>,
): DeploymentDocument | undefined {
  if (override === undefined) return undefined;
  const text = texts.get(override);
  if (text !== undefined) return parseDeploymentOverride(text, { file: override, trusted: false });
  throw errors.config_invalid(
    `${override} cannot be read: the override of a discovered stack must be a file, not a link`,
    { problems: [{ file: override, message: "expected a file, found a link" }] },
  );
}

function merge(
  base: DeclaredDeployment,
  inherited: Deployment,
  found: DiscoveredDirectory & { readonly isElsewhere: boolean },
  override: DeploymentDocument | undefined,
) {
  const file = found.override ?? `${found.path}/`;
  const over = override === undefined ? undefined : overrideDeployment(inherited, override, found);
  const deployment = over?.deployment ?? inherited;
  const sink = new ProblemSink(file);
  checkDeployment(
    deployment,
    (path, message) => sink.add(positionOf(override, path), path, message),
  );
  if (!sink.clean) throw invalidInput(`the stack discovered in ${found.path}`, sink.problems);
  const ignored = over?.ignored ?? [];
  const given = [...override?.given ?? []].filter((path) =>
    !ignored.includes(path.split(".")[0] ?? "")
  );
  return {
    declared: { deployment, given: new Set([...base.given, ...given]) },
    warnings: [
      ...override?.warnings ?? [],
      ...ignored.map((path) => ({
        file,
        ...override?.place(path),
        path,
        message: "ignored: a discovered stack takes this from the configuration that discovers it",
      })),
    ],
  };
}

function positionOf(override: DeploymentDocument | undefined, path: string) {
  const { line, column } = override?.place(path) ?? {};
  return line === undefined || column === undefined ? undefined : { line, column };
}
