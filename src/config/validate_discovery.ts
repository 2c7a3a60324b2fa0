import { posix } from "node:path";
import type { Deployment, Problem, StackwrightError } from "../model/mod.ts";
import type { DeploymentDocument } from "./deployment_reader.ts";
import { problemsIn } from "./problem_sink.ts";
import { normaliseName } from "./project_name.ts";
import { discoverDirectories, type DiscoveredDirectory } from "./discover.ts";
import { type DiscoveredDeployment, expandDiscovery } from "./expand_discovery.ts";
import type { Checkout } from "./checkout.ts";

/** A stack that a checkout declares, in a configuration or by a discovered directory. */
export interface DeclaredStack {
  readonly deployment: Deployment;
  /** Dotted key paths that its author wrote. */
  readonly given: ReadonlySet<string>;
  /** The directory it was discovered in. */
  readonly directory?: string;
  /** File and position of the value at a dotted key path. */
  place(path: string): Pick<Problem, "file" | "document" | "line" | "column">;
}

/** The stacks that a document declares; a discovery counts as the stacks that it finds. */
export interface Declared {
  readonly stacks: readonly DeclaredStack[];
  /** Overrides that were read. */
  readonly overrides: readonly string[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

interface InFile {
  readonly file: string;
  readonly document: DeploymentDocument;
}

/** The stacks of a document, or those that it discovers here; of another repository none are known. */
export async function declaredStacks(
  checkout: Checkout,
  { file, document }: InFile,
  configurationDir: string,
): Promise<Declared> {
  const { deployment } = document;
  const itself: DeclaredStack = {
    deployment,
    given: document.given,
    place: (path) => ({ file, ...document.place(path) }),
  };
  if (!deployment.autoDiscovery.enabled) return only(itself);
  if (deployment.repositoryUrl !== "") return { ...only(itself), stacks: [] };
  return await discovered(checkout, itself, { document, configurationDir });
}

function only(stack: DeclaredStack): Declared {
  return { stacks: [stack], overrides: [], problems: [], warnings: [] };
}

async function discovered(
  checkout: Checkout,
  base: DeclaredStack,
  { document, configurationDir }: { document: DeploymentDocument; configurationDir: string },
): Promise<Declared> {
  const { workingDir, composeFiles, autoDiscovery } = base.deployment;
  const listing = await checkout.list(workingDir);
  if (listing.size === 0) {
    const message = `${workingDir} does not exist, so that nothing can be discovered in it`;
    const problem = { ...base.place("working_dir"), path: "working_dir", message };
    return { stacks: [], overrides: [], problems: [problem], warnings: [] };
  }
  const rules = { workingDir, depth: autoDiscovery.depth, composeFiles, configurationDir };
  const { directories, overrides, hidden, problems } = await readOverrides(
    checkout,
    listing,
    discoverDirectories(listing, rules),
  );
  const rootName = normaliseName(checkout.name) || "root";
  const found = expandDiscovery(document, { directories, overrides, rootName });
  return {
    stacks: found.stacks.map((each) => stackOf(each, base)),
    overrides: [...overrides.keys()],
    problems: [
      ...problems,
      ...found.failures.flatMap((each) => problemsOf(each.directory, each.error)),
    ],
    warnings: [...found.warnings, ...hidden.map(notChecked)],
  };
}

/** The texts of overrides, and the directories without those whose override cannot be read here. */
async function readOverrides(
  checkout: Checkout,
  listing: ReadonlyMap<string, { readonly kind: string }>,
  found: readonly DiscoveredDirectory[],
) {
  const overrides = new Map<string, string>();
  const hidden: string[] = [];
  const problems: Problem[] = [];
  const directories: DiscoveredDirectory[] = [];
  for (const directory of found) {
    const { override } = directory;
    // Deployments refuse an override that is a link, too.
    const isFile = override !== undefined && listing.get(override)?.kind !== "symlink";
    const refuse = (error: unknown) => void problems.push(...problemsIn(error));
    const text = isFile ? await checkout.read(override).catch(refuse) : undefined;
    if (override !== undefined && text !== undefined) overrides.set(override, text);
    if (override !== undefined && text !== undefined && isEncrypted(text)) hidden.push(override);
    else directories.push(directory);
  }
  return { directories, overrides, hidden, problems };
}

/** True when a text was encrypted with SOPS, whose values cannot be checked. */
export function isEncrypted(text: string): boolean {
  return /^sops:/m.test(text) && text.includes("ENC[AES256_GCM,");
}

/** The warning about an encrypted file that was not checked. */
export function notChecked(file: string): Problem {
  return { file, message: "it is encrypted, so that it is checked only where it is deployed" };
}

/** A stack whose values have their place in the override that gives them, else in the base. */
function stackOf(found: DiscoveredDeployment, base: DeclaredStack): DeclaredStack {
  const { directory, declared, override } = found;
  return {
    deployment: declared.deployment,
    given: declared.given,
    directory,
    place(path) {
      const isOwn = override?.document.given.has(path.split(/[.[]/)[0] ?? "") === true;
      return override !== undefined && isOwn
        ? { file: override.file, ...override.document.place(path) }
        : base.place(path);
    },
  };
}

function problemsOf(directory: string, error: StackwrightError): readonly Problem[] {
  if (error.problems.length > 0) return error.problems;
  return [{ file: posix.join(directory, "/"), message: error.message }];
}

/** A problem at a key of a stack, which is written at `path` of its document. */
export function problemAt(stack: DeclaredStack, path: string, message: string): Problem {
  return { ...stack.place(path), path, message };
}
