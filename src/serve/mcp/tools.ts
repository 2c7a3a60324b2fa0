import * as z from "zod";
import {
  type ContainerView,
  jobView,
  MOST_POLL_REQUESTS,
  type Operations,
  pollEntrySchema,
  runView,
} from "../../api/mod.ts";
import { filled } from "../../model/mod.ts";
import { stackTools } from "./stack_tools.ts";
import { CHANGES, operationTool, startedView, type Tool, viewStarted } from "./tool.ts";

const LONG = " With wait=false it answers at once with a job_id for get_deployment_run: " +
  "use that for what takes longer than your client waits.";

/** Every tool, in the order in which they are listed. */
export function createTools(operations: Operations): Tool[] {
  return [
    healthTool(operations),
    ...runTools(operations),
    ...deploymentTools(operations),
    ...projectTools(operations),
    ...jobTools(operations),
    ...stackTools(operations),
    compactionTool(operations),
  ];
}

function healthTool({ health }: Operations): Tool {
  return operationTool({
    name: "get_health",
    operation: health,
    output: z.strictObject({
      status: z.enum(["healthy", "unhealthy"]),
      error: z.string().optional(),
    }),
    view: ({ details, error = details }) =>
      details === "healthy"
        ? { status: details }
        : { value: { status: details, error }, failure: error },
  });
}

/** A poll that a tool starts happens once and at once. */
const pollInput = pollEntrySchema.omit({
  interval: true,
  schedule: true,
  run_once: true,
  watch: true,
});

function runTools({ listRuns, getRun, runPolls }: Operations): Tool[] {
  return [
    operationTool({
      name: "list_deployment_runs",
      operation: listRuns,
      output: z.strictObject({ runs: z.array(runView) }),
      view: (runs) => ({ runs }),
    }),
    operationTool({
      name: "get_deployment_run",
      operation: getRun,
      output: z.strictObject({ run: runView }),
      view: (run) => ({ run }),
    }),
    operationTool({
      name: "trigger_poll",
      operation: runPolls,
      description: runPolls.summary + LONG,
      hints: CHANGES,
      input: (runPolls.input as z.ZodObject).extend({
        configs: z.array(pollInput).min(1).max(MOST_POLL_REQUESTS),
      }),
      output: startedView,
      view: viewStarted,
    }),
  ];
}

/** `list_deployments`, `plan_deployment` and `explain_deployment` do not exist in doco-cd. */
function deploymentTools(operations: Operations): Tool[] {
  const { syncWindows, listDeployments, planStack, getDeployment } = operations;
  const windowsInput = (syncWindows.input as z.ZodObject).omit({ origin: true }).extend({
    manual: z.boolean().default(false).describe("Decide as for what a person asks for."),
  });
  return [
    operationTool({
      name: "list_sync_windows",
      operation: syncWindows,
      input: windowsInput,
      ask: ({ manual, ...rest }) => ({ ...rest, origin: manual === true ? "manual" : "automatic" }),
    }),
    operationTool({ name: "list_deployments", operation: listDeployments }),
    operationTool({ name: "plan_deployment", operation: planStack }),
    operationTool({ name: "explain_deployment", operation: getDeployment }),
  ];
}

const containerView = z.strictObject({
  id: z.string(),
  name: z.string(),
  service: z.string().optional(),
  image: z.string(),
  state: z.string(),
  status: z.string(),
  health: z.string().optional(),
  published_ports: z.array(z.strictObject({
    target_port: z.int(),
    published_port: z.int(),
    protocol: z.string().optional(),
  })).optional(),
});

const projectView = z.strictObject({ id: z.string(), name: z.string(), status: z.string() });

const controlledView = z.strictObject({
  project_name: z.string(),
  action: z.string(),
  status: z.literal("completed"),
  message: z.string().describe("One sentence."),
});

const destroyedView = z.strictObject({
  project_name: z.string(),
  status: z.literal("destroyed"),
  volumes: z.boolean().describe("Whether its volumes and other data were to be deleted."),
  images: z.boolean().describe("Whether its images were to be removed."),
  message: z.string().describe("One sentence; it names the data that was deleted."),
});

function projectTools(operations: Operations): Tool[] {
  const { listProjects, getProject, controlProject, destroyProject } = operations;
  return [
    operationTool({
      name: "list_projects",
      operation: listProjects,
      output: z.strictObject({ projects: z.array(projectView) }),
      view: (projects) => ({
        projects: projects.map((each) => ({ id: each.ID, name: each.Name, status: each.Status })),
      }),
    }),
    operationTool({
      name: "get_project",
      operation: getProject,
      output: z.strictObject({ containers: z.array(containerView) }),
      view: (containers) => ({ containers: containers.map(viewContainer) }),
    }),
    operationTool({
      name: "control_project",
      operation: controlProject,
      hints: CHANGES,
      output: controlledView,
      view: (message, { project_name, action }) => {
        return { project_name, action, status: "completed", message };
      },
    }),
    operationTool({
      name: "destroy_project",
      operation: destroyProject,
      hints: { ...CHANGES, idempotentHint: true },
      output: destroyedView,
      view: (message, { project_name, volumes = true, images = true }) => {
        return { project_name, status: "destroyed", volumes, images, message };
      },
    }),
  ];
}

/** A container without labels and mounts, which REST shows but which an agent should not read. */
function viewContainer(container: ContainerView): z.output<typeof containerView> {
  return {
    id: container.ID,
    name: container.Name,
    image: container.Image,
    state: container.State,
    status: container.Status,
    ...filled({
      service: container.Service,
      health: container.Health,
      published_ports: container.Publishers.filter((each) => each.PublishedPort !== 0)
        .map((each) => ({
          target_port: each.TargetPort,
          published_port: each.PublishedPort,
          protocol: each.Protocol,
        })),
    }),
  };
}

function compactionTool({ compactMirrors }: Operations): Tool {
  return operationTool({
    name: "compact_mirrors",
    operation: compactMirrors,
    description: compactMirrors.summary + LONG,
    hints: { ...CHANGES, destructiveHint: false, idempotentHint: true },
    output: startedView.extend({
      status: z.enum([...startedView.shape.status.options, "running"]),
    }),
    view: ({ busy, ...result }) => {
      if (!busy) return viewStarted(result);
      const { message, run: { job_id, status } } = result;
      return { value: { job_id, status, message }, failure: message };
    },
  });
}

function jobTools({ listJobs, runJob }: Operations): Tool[] {
  return [
    operationTool({
      name: "list_scheduled_jobs",
      operation: listJobs,
      output: z.strictObject({ jobs: z.array(jobView) }),
      view: (jobs) => ({ jobs }),
    }),
    operationTool({
      name: "trigger_scheduled_job",
      operation: runJob,
      description: runJob.summary + LONG,
      hints: CHANGES,
      output: startedView,
      view: viewStarted,
    }),
  ];
}
