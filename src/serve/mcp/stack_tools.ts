import * as z from "zod";
import type { Operations, StackServiceView } from "../../api/mod.ts";
import { filled } from "../../model/mod.ts";
import { CHANGES, operationTool, type Tool } from "./tool.ts";

const stackService = z.strictObject({
  id: z.string(),
  name: z.string(),
  image: z.string().optional(),
  mode: z.enum(["replicated", "global", "replicated_job", "global_job", "unknown"]),
  desired_tasks: z.int(),
  running_tasks: z.int(),
  update_state: z.string().optional(),
  published_ports: z.array(z.strictObject({
    target_port: z.int(),
    published_port: z.int(),
    protocol: z.string().optional(),
    mode: z.string().optional(),
  })).optional(),
});

/** The tools about stacks of a swarm. Without a swarm they are listed, but their calls fail. */
export function stackTools(operations: Operations): Tool[] {
  const { listStacks, getStack, controlStack, removeStack } = operations;
  return [
    operationTool({
      name: "list_stacks",
      operation: listStacks,
      output: z.strictObject({ stacks: z.record(z.string(), z.array(stackService)) }),
      view: (stacks) => ({
        stacks: Object.fromEntries(
          Object.entries(stacks).map(([name, services]) => [name, services.map(viewService)]),
        ),
      }),
    }),
    operationTool({
      name: "get_stack",
      operation: getStack,
      output: z.strictObject({ services: z.array(stackService) }),
      view: (services) => ({ services: services.map(viewService) }),
    }),
    operationTool({
      name: "control_stack",
      operation: controlStack,
      hints: CHANGES,
      output: z.strictObject({
        stack_name: z.string(),
        action: z.string(),
        results: z.array(z.strictObject({
          service: z.string(),
          status: z.enum(["ok", "skipped"]),
          reason: z.string().optional(),
        })),
        message: z.string().describe("One sentence."),
      }),
      view: ({ message, results }, { stack_name, action }) => ({
        stack_name,
        action,
        results,
        message,
      }),
    }),
    operationTool({
      name: "remove_stack",
      operation: removeStack,
      hints: { ...CHANGES, idempotentHint: true },
      output: z.strictObject({ stack_name: z.string(), status: z.literal("removed") }),
      view: (_message, { stack_name }) => ({ stack_name, status: "removed" }),
    }),
  ];
}

/** A service without its labels, which REST shows but which an agent should not read. */
function viewService(
  { ID, Spec, Endpoint, ServiceStatus, UpdateStatus }: StackServiceView,
): z.output<typeof stackService> {
  return {
    id: ID,
    name: Spec.Name,
    mode: modeOf(Spec.Mode),
    desired_tasks: ServiceStatus.DesiredTasks,
    running_tasks: ServiceStatus.RunningTasks,
    ...filled({
      image: Spec.TaskTemplate.ContainerSpec.Image,
      update_state: UpdateStatus?.State,
      published_ports: Endpoint.Ports.map((port) => ({
        target_port: port.TargetPort,
        published_port: port.PublishedPort,
        protocol: port.Protocol,
        mode: port.PublishMode,
      })),
    }),
  };
}

function modeOf(mode: StackServiceView["Spec"]["Mode"]): z.output<typeof stackService>["mode"] {
  if ("Replicated" in mode) return "replicated";
  if ("Global" in mode) return "global";
  return "ReplicatedJob" in mode ? "replicated_job" : "global_job";
}
