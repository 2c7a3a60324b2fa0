import {
  formatRevision,
  type Origin,
  type Revision,
  type RunReporter,
  type SourceRequest,
  stackKey,
  type StackwrightError,
  type Trigger,
} from "../model/mod.ts";
import type { SecretSession } from "../secrets/mod.ts";
import {
  expandDeployments,
  type ExpandedDeployment,
  type Expansion,
} from "./expand_deployments.ts";
import type { PipelineParts } from "./parts.ts";
import { preparing } from "./places.ts";
import { readDeployments, requireGit } from "./read_deployments.ts";
import { lookUp, requestLocation } from "./resolve_revision.ts";
import type { Target } from "../prepare/mod.ts";

/** A source to look at, and who wants that. */
export interface SourceRun {
  readonly request: SourceRequest;
  readonly trigger: Trigger;
  readonly origin: Origin;
  /** What the targets of one run read their external secrets with. */
  readonly secretSession?: SecretSession;
}

/** A source whose configuration was read. */
export interface OpenedSource extends SourceRun {
  /** Where the configuration was read. */
  readonly configuration: Revision;
  readonly expansion: Expansion;
  /** Why the source could not be asked: then `configuration` is what it said last. */
  readonly away?: StackwrightError;
}

/**
 * resolve ▸ read ▸ expand: what a source says now. The reporter is told what is being done, and the
 * revision once it is known.
 *
 * Throws `unsupported` for what is no repository, and what the source and its configuration throw.
 */
export async function openSource(
  parts: PipelineParts,
  run: SourceRun,
  reporter: Pick<RunReporter, "describe">,
  signal: AbortSignal,
): Promise<OpenedSource> {
  const { request } = run;
  requireGit(request);
  const { name } = requestLocation(request);
  reporter.describe({ message: `resolving ${request.reference} of ${name}` });
  const look = () => lookUp(parts, request, signal);
  const { revision: configuration, away } = await preparing(parts, name, look, signal);
  const shown = formatRevision(configuration);
  if (away !== undefined) {
    parts.log.warning(`looking after what ${shown} deployed: ${away.message}`);
  }
  reporter.describe({ repository: configuration.source.name, revision: shown });
  const declared = await readDeployments(parts, request, configuration, signal);
  const toExpand = { request, declared, configuration };
  const expand = () => expandDeployments(parts, toExpand, signal);
  const expansion = await preparing(parts, name, expand, signal);
  return { ...run, configuration, expansion, ...(away === undefined ? {} : { away }) };
}

/** One deployment of an opened source; until its own revision is looked up it has the configuration's. */
export function targetOf(
  { request, configuration, trigger, origin, secretSession }: Omit<OpenedSource, "expansion">,
  { declared, found }: ExpandedDeployment,
  progress: Target["progress"],
): Target {
  const { deployment } = declared;
  return {
    key: stackKey(deployment.context, deployment.name),
    declared,
    deployment,
    configuration,
    revision: found?.revision ?? configuration,
    ...(found === undefined ? {} : { discovered: found.stack }),
    configTarget: request.target,
    trigger,
    origin,
    progress,
    ...(secretSession === undefined ? {} : { secretSession }),
  };
}
