import * as z from "zod";
import { STACK_LABELS, type StackActionResult, type StackService } from "../deploy/mod.ts";
import { type ShowDigest, toldLabels } from "../model/mod.ts";
import { TOLD_LABELS } from "./projects.ts";

const count = z.int().min(0);

/** A swarm service as the Engine API names its fields, without those that may hold secrets. */
export const stackServiceView = z.strictObject({
  ID: z.string(),
  Version: z.strictObject({ Index: z.int() }),
  CreatedAt: z.string(),
  UpdatedAt: z.string(),
  Spec: z.strictObject({
    Name: z.string(),
    Labels: z.record(z.string(), z.string()).describe(
      "Those of stacks, Stackwright and the image's origin; others may hold secrets.",
    ),
    TaskTemplate: z.strictObject({
      ContainerSpec: z.strictObject({ Image: z.string() }).describe("Nothing but its image."),
    }),
    Mode: z.union([
      z.strictObject({ Replicated: z.strictObject({ Replicas: count }) }),
      z.strictObject({ Global: z.strictObject({}) }),
      z.strictObject({ ReplicatedJob: z.strictObject({ TotalCompletions: count }) }),
      z.strictObject({ GlobalJob: z.strictObject({}) }),
    ]),
  }),
  Endpoint: z.strictObject({
    Ports: z.array(z.strictObject({
      Protocol: z.string(),
      TargetPort: z.int(),
      PublishedPort: z.int(),
      PublishMode: z.string(),
    })),
  }),
  ServiceStatus: z.strictObject({
    RunningTasks: count,
    DesiredTasks: count,
    CompletedTasks: count.describe("Of the last run of a job."),
  }),
  UpdateStatus: z.strictObject({ State: z.string(), Message: z.string() }).optional(),
});

/** See {@link stackServiceView}. */
export type StackServiceView = z.output<typeof stackServiceView>;

/** The result of an action on a stack. */
export const stackActionView = z.strictObject({
  message: z.string().describe("One sentence."),
  results: z.array(z.strictObject({
    service: z.string().describe("Its name on the engine."),
    status: z.enum(["ok", "skipped"]),
    reason: z.string().optional().describe("Why the action was not for it."),
  })),
});

/** See {@link stackActionView}. */
export type StackActionView = z.output<typeof stackActionView>;

/** Shows the result of an action for one service. */
export function viewResult(
  { service, skipped }: StackActionResult,
): StackActionView["results"][number] {
  return skipped === undefined
    ? { service, status: "ok" }
    : { service, status: "skipped", reason: skipped };
}

/** Shows a service of a stack. */
export function viewService(
  { service, image, desired, running, completed }: StackService,
  show: ShowDigest,
): StackServiceView {
  const { labels, update } = service;
  const isTold = (name: string) =>
    TOLD_LABELS.test(name) || Object.values<string>(STACK_LABELS).includes(name);
  return {
    ID: service.id,
    Version: { Index: service.version },
    CreatedAt: service.createdAt.toISOString(),
    UpdatedAt: service.updatedAt.toISOString(),
    Spec: {
      Name: service.name,
      Labels: toldLabels(labels, isTold, show),
      TaskTemplate: { ContainerSpec: { Image: image } },
      Mode: viewMode(service.mode),
    },
    Endpoint: {
      Ports: service.ports.map((port) => ({
        Protocol: port.protocol,
        TargetPort: port.targetPort,
        PublishedPort: port.publishedPort,
        PublishMode: port.mode,
      })),
    },
    ServiceStatus: { RunningTasks: running, DesiredTasks: desired, CompletedTasks: completed },
    ...(update === undefined
      ? {}
      : { UpdateStatus: { State: update.state, Message: update.message } }),
  };
}

function viewMode(mode: StackService["service"]["mode"]): StackServiceView["Spec"]["Mode"] {
  switch (mode.kind) {
    case "replicated":
      return { Replicated: { Replicas: mode.replicas } };
    case "global":
      return { Global: {} };
    case "replicated-job":
      return { ReplicatedJob: { TotalCompletions: mode.completions } };
    case "global-job":
      return { GlobalJob: {} };
  }
}
