import type { DeclaredDeployment, Problem } from "../model/mod.ts";
import { decode } from "./decode.ts";
import { buildDeployment, type DeploymentOrigin } from "./deployment_rules.ts";
import { checkDeployment } from "./check_deployment.ts";
import { deploymentSchema, type WrittenDeployment } from "./deployment_schema.ts";
import { type Located, type LocatedMap, type Position, positionAt } from "./located.ts";
import { ProblemSink, type Report } from "./problem_sink.ts";

/**
 * One deployment configuration with positions in its text. Keys that are absent or null have their
 * defaults. In `given`, `destroy: true` counts as `destroy.enabled`; the presence of a key in an
 * override, not its value, decides whether it replaces the inherited one.
 */
export interface DeploymentDocument extends DeclaredDeployment {
  /** Where the document starts; absent for JSON values. */
  readonly position: Position | undefined;
  /** Number of the document and position of the value at a dotted key path, for a problem found later. */
  place(path: string): Pick<Problem, "document" | "line" | "column">;
  /** Keys that were ignored on purpose, for the author to know. */
  readonly warnings: readonly Problem[];
}

/** Reads one located value as a deployment. */
export class DeploymentReader {
  readonly document: DeploymentDocument;
  readonly #root: Located;
  readonly #sink: ProblemSink;
  readonly #report: Report;

  constructor(root: Located, sink: ProblemSink, origin: DeploymentOrigin) {
    this.#root = root;
    this.#sink = sink;
    this.#report = (path, message) => sink.add(positionAt(root, path), path, message);
    const { value, given } = decode(deploymentSchema, root, sink);
    // Schema errors are reported already; rules on the remaining keys would report false ones.
    const written: WrittenDeployment = sink.clean ? value : {};
    const deployment = sink.clean
      ? buildDeployment(written, origin, this.#report)
      : buildDeployment({ name: "unreadable" }, origin, () => {});
    this.#checkVersion(written, origin);
    if (sink.clean && origin.partial !== true) checkDeployment(deployment, this.#report);
    this.document = {
      deployment,
      given: origin.trusted ? given : withoutOci(given),
      isMigrated: origin.migration === true,
      position: root.at,
      place: (path) => this.#place(path),
      warnings: this.#warnings(given, origin),
    };
  }

  get problems(): readonly Problem[] {
    return this.#sink.problems;
  }

  reportDuplicate(first: DeploymentReader | undefined): void {
    if (first === undefined || !first.#sink.clean || !this.#sink.clean) return;
    const { name, context } = this.document.deployment;
    const line = first.#nameLine();
    const where = line === undefined ? "" : ` (the first is on line ${line})`;
    const place = context === "" ? "the default context" : `the context ${context}`;
    this.#report("name", `another deployment in ${place} is called "${name}" too${where}`);
  }

  #place(path: string): Pick<Problem, "document" | "line" | "column"> {
    const at = positionAt(this.#root, path);
    const { document } = this.#sink;
    return { ...(document === undefined ? {} : { document }), ...at };
  }

  #nameLine(): number | undefined {
    return positionAt(this.#root, "name")?.line;
  }

  /** With source `oci` a given version must be one of the supported ones. */
  #checkVersion(written: WrittenDeployment, origin: DeploymentOrigin): void {
    if (!this.#sink.clean || (written.source ?? "").trim().toLowerCase() !== "oci") return;
    const node = (this.#root as LocatedMap).entries.get("version")?.value;
    if (node === undefined || node.kind !== "scalar") return;
    const allowed = ["", "service.v1", ...(origin.migration === true ? ["doco.v1"] : [])];
    if (typeof node.value === "string" && allowed.includes(node.value.trim())) return;
    this.#report("version", "expected service.v1, the only version for source oci");
  }

  #warnings(given: ReadonlySet<string>, origin: DeploymentOrigin): readonly Problem[] {
    if (origin.trusted || !given.has("oci") || !this.#sink.clean) return [];
    const warnings = new ProblemSink(this.#sink.file, { document: this.#sink.document ?? 1 });
    warnings.add(
      positionAt(this.#root, "oci"),
      "oci",
      "ignored: signature overrides are honoured in trusted configuration only",
    );
    return warnings.problems;
  }
}

function withoutOci(given: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...given].filter((path) => path !== "oci" && !path.startsWith("oci.")));
}
