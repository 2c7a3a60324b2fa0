import * as z from "zod";
import { dataText, PROJECT_ACTIONS, type Projects, type ProjectSummary } from "../deploy/mod.ts";
import type { ContainerSummary } from "../docker/mod.ts";
import {
  COMPOSE_LABELS,
  fewOf,
  type ShowDigest,
  shownName,
  type StackKey,
  stackKey,
  toldLabels,
} from "../model/mod.ts";
import { audited } from "./audit.ts";
import { contextInput } from "./context.ts";
import { defineOperation, type Operation } from "./operation.ts";

const DEFAULT_TIMEOUT_SECONDS = 30;
/** Most seconds that a caller may ask for: the limit of timers. */
export const MOST_TIMEOUT_SECONDS = 2_147_483;

/** One project in an answer, with the field names of docker's own tools. */
export const projectView = z.strictObject({
  ID: z.string(),
  Name: z.string(),
  Status: z.string().describe("States of its containers, counted: `exited(1), running(2)`."),
  ConfigFiles: z.string().describe("Compose files, where its containers tell them, else empty."),
  Reason: z.string().describe("Why its status cannot be told; empty, since it always can."),
});

/** One container of a project in an answer, without its environment and arguments. */
export const containerView = z.strictObject({
  ID: z.string(),
  Name: z.string(),
  Names: z.array(z.string()).describe("Its name as the engine has it, with a slash in front."),
  Image: z.string(),
  Command: z.string().describe("The program it runs; arguments may hold secrets."),
  Project: z.string(),
  Service: z.string(),
  Created: z.int().describe("Unix time in seconds."),
  State: z.enum(["created", "running", "paused", "restarting", "removing", "exited", "dead"]),
  Status: z.string().describe("The engine's sentence: `Up 2 hours (healthy)`."),
  Health: z.enum(["", "starting", "healthy", "unhealthy"]).describe(
    "Empty without a health check.",
  ),
  ExitCode: z.int().describe("0 while it runs."),
  Publishers: z.array(z.strictObject({
    URL: z.string().describe("Address of the host; empty when the port is not published."),
    TargetPort: z.int(),
    PublishedPort: z.int(),
    Protocol: z.string(),
  })),
  Labels: z.record(z.string(), z.string()).optional().describe(
    "Those of compose, Stackwright and the image's origin; others may hold secrets.",
  ),
  Networks: z.array(z.string()).optional(),
  Mounts: z.array(z.string()).optional(),
  LocalVolumes: z.int().describe("How many volumes of the engine itself it mounts."),
});

type ProjectView = z.output<typeof projectView>;
/** See {@link containerView}. */
export type ContainerView = z.output<typeof containerView>;

/** Parts of the operations on projects. */
export interface ProjectOperationParts {
  readonly projects: Projects;
  /** The form of a digest in a label that readers of a stack see. */
  readonly shownDigest: (key: StackKey, digest: string) => string;
}

const named = z.strictObject({
  project_name: z.string().min(1).describe("Name of the compose project."),
  context: contextInput,
});

/** The input for the time limit of an action. */
export const timeoutInput = z.int().min(1).max(MOST_TIMEOUT_SECONDS)
  .default(DEFAULT_TIMEOUT_SECONDS)
  .describe(
    "Seconds to wait for a deployment under way, and then for health; what has begun goes to its end.",
  );

const timed = named.extend({ timeout: timeoutInput });

/** Lists compose projects, sorted by name, also those that Stackwright did not deploy. */
export function listProjectsOperation(
  { projects }: ProjectOperationParts,
): Operation<ProjectView[]> {
  return defineOperation({
    id: "listProjects",
    summary: "List compose projects.",
    tag: "Projects",
    power: "read",
    input: z.strictObject({
      all: z.boolean().default(false).describe("Include projects without a running container."),
      context: contextInput,
    }),
    output: z.array(projectView),
    errors: ["bad_request", "engine_refused", "engine_unreachable"],
  }, async ({ all, context }, { signal }) => {
    const { context: where } = stackKey(context, "");
    return (await projects.list({ all, context: where }, signal)).map(viewProject);
  });
}

/** Shows the containers of one project. A call throws `not_found`. */
export function getProjectOperation(
  { projects, shownDigest }: ProjectOperationParts,
): Operation<ContainerView[]> {
  return defineOperation({
    id: "getProject",
    summary: "The containers of one compose project.",
    tag: "Projects",
    power: "read",
    input: named,
    output: z.array(containerView),
    errors: ["bad_request", "not_found", "engine_refused", "engine_unreachable"],
  }, async ({ project_name: name, context }, { signal }) => {
    const key = stackKey(context, name);
    const show = (digest: string) => shownDigest(key, digest);
    return (await projects.describe(key, signal)).map((each) => viewContainer(each, show));
  });
}

const PAST = { start: "started", stop: "stopped", restart: "restarted" } as const;

/** Says what stopping means for a stack that is deployed from a repository. */
const STAYS_STOPPED = "; nothing of it is deployed or repaired until it is started again";

/** Says what an adoption stopped, or a person, and what nothing starts by itself. */
const NOT_STARTED = "; not started, since the release does not have it: ";

/** Says who makes what is to be started. */
const MADE_LATER = "; it has no container: the next look at it (a poll) makes what is missing";

/** Starts, stops or restarts a project under its stack's lock; a start waits for its health. */
export function controlProjectOperation({ projects }: ProjectOperationParts): Operation<string> {
  return defineOperation({
    id: "controlProject",
    summary: "Start, stop or restart a compose project.",
    tag: "Projects",
    power: "act",
    input: timed.extend({ action: z.enum(PROJECT_ACTIONS) }),
    output: z.string(),
    errors: [
      "bad_request",
      "not_found",
      "conflict",
      "unhealthy",
      "timeout",
      "engine_refused",
      "shutting_down",
    ],
  }, async ({ project_name: name, context, action, timeout }, call) => {
    const key = stackKey(context, name);
    const control = { action, timeoutSeconds: timeout };
    const audit = { action, what: "project", key } as const;
    const act = () => projects.control(key, control, call.signal);
    const { isHeld, isMissing, left } = await audited(call, audit, act);
    const more = left.length === 0 ? "" : NOT_STARTED + fewOf(left, 10);
    const then = isHeld ? STAYS_STOPPED : isMissing ? MADE_LATER : "";
    return `project ${PAST[action]}: ${name}${then}${more}`;
  });
}

const recreateInput = named.extend({
  service: z.string().min(1).optional().describe("The one service; all of them without it."),
  timeout: timeoutInput.describe(
    "Seconds to wait for a deployment under way; what has begun goes to its end.",
  ),
});

/**
 * Recreates the containers of a project, or of one service, from the deployed release, also while
 * they run. A call throws `conflict` when that release cannot be had.
 */
export function recreateProjectOperation({ projects }: ProjectOperationParts): Operation<string> {
  return defineOperation({
    id: "recreateProject",
    summary: "Make the containers of a project, or of one service, anew from what is deployed.",
    tag: "Projects",
    power: "act",
    input: recreateInput,
    output: z.string(),
    errors: [
      ...["bad_request", "not_found", "conflict", "deploy_failed", "timeout"] as const,
      ...["engine_refused", "shutting_down"] as const,
    ],
  }, async ({ project_name: name, context, service, timeout }, call) => {
    const key = stackKey(context, name);
    const what = { service, timeoutSeconds: timeout };
    const more = service === undefined ? {} : { service };
    const audit = { action: "recreate", what: "project", key, more } as const;
    await audited(call, audit, () => projects.recreate(key, what, call.signal));
    return service === undefined
      ? `project recreated: ${name}`
      : `service recreated: ${name}/${service}`;
  });
}

const removeInput = timed.extend({
  volumes: z.boolean().default(true).describe(
    "Delete its volumes and what it wrote to relative mounts; the answer names each.",
  ),
  images: z.boolean().default(true).describe("Remove images that nothing else uses."),
});

/** Removes a project under its stack's lock. A call throws `not_found`. */
export function removeProjectOperation({ projects }: ProjectOperationParts): Operation<string> {
  return defineOperation({
    id: "destroyProject",
    summary:
      "Remove a compose project, by default with its images, and its data in volumes and relative mounts.",
    tag: "Projects",
    power: "act",
    input: removeInput,
    output: z.string(),
    errors: [
      ...["bad_request", "not_found", "conflict", "timeout"] as const,
      ...["engine_refused", "engine_unreachable", "shutting_down"] as const,
    ],
  }, async ({ project_name: name, context, timeout, volumes, images }, call) => {
    const key = stackKey(context, name);
    const what = { removeVolumes: volumes, removeImages: images, timeoutSeconds: timeout };
    const audit = { action: "remove", what: "project", key, more: { volumes, images } } as const;
    const data = await audited(call, audit, () => projects.remove(key, what, call.signal));
    return `project removed: ${name}${dataText("deleted", data)}`;
  });
}

function viewProject({ name, status, configFiles }: ProjectSummary): ProjectView {
  return { ID: name, Name: name, Status: status, ConfigFiles: configFiles, Reason: "" };
}

function viewContainer(container: ContainerSummary, show: ShowDigest): ContainerView {
  const { health, labels, networkNames = [], mounts } = container;
  return {
    ID: container.id,
    Name: container.name,
    Names: [`/${container.name}`],
    Image: container.image,
    Command: container.program,
    Project: labels[COMPOSE_LABELS.project] ?? "",
    Service: container.service,
    Created: Math.floor(container.createdAt.getTime() / 1000),
    State: container.state,
    Status: container.status,
    Health: health === "none" ? "" : health,
    ExitCode: container.exitCode ?? 0,
    Publishers: container.ports.map((port) => ({
      URL: port.address,
      TargetPort: port.targetPort,
      PublishedPort: port.publishedPort,
      Protocol: port.protocol,
    })),
    Labels: toldLabels(labels, (name) => TOLD_LABELS.test(name), show),
    Networks: [...networkNames],
    Mounts: mounts.map((each) => shownName(each, show)),
    LocalVolumes: container.localVolumes,
  };
}

/** Labels that may be shown; others often have values interpolated from secrets. */
export const TOLD_LABELS = /^(?:com\.docker\.compose|stackwright|org\.opencontainers\.image)\./;
