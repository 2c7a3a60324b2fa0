import type { ListedCommand } from "./io.ts";

/** Every command, in the order of the list. */
export const COMMANDS: readonly ListedCommand[] = [
  {
    name: "serve",
    summary: "Run the service.",
    load: async () => (await import("./serve_command.ts")).serveCommand,
  },
  {
    name: "validate",
    summary: "Check the deployment configuration of a checkout, offline.",
    load: async () => (await import("./validate_command.ts")).validateCommand,
  },
  {
    name: "schema",
    summary: "Print the JSON Schema of the deployment configuration.",
    load: async () => (await import("./schema_command.ts")).schemaCommand,
  },
  {
    name: "openapi",
    summary: "Print an OpenAPI document of the HTTP interface.",
    load: async () => (await import("./openapi_command.ts")).openapiCommand,
  },
  {
    name: "status",
    summary: "List the stacks: state, release, age, health, and why.",
    load: async () => (await import("./status_command.ts")).statusCommand,
  },
  {
    name: "plan",
    summary: "Show what a deployment would change, and change nothing.",
    load: async () => (await import("./plan_command.ts")).planCommand,
  },
  {
    name: "apply",
    summary: "Deploy a checkout or repository once, now.",
    load: async () => (await import("./apply_command.ts")).applyCommand,
  },
  {
    name: "explain",
    summary: "Say why a stack is as it is: the last decisions, what changed, what was held back.",
    load: async () => (await import("./explain_command.ts")).explainCommand,
  },
  {
    name: "history",
    summary: "List the releases of a stack.",
    load: async () => (await import("./history_command.ts")).historyCommand,
  },
  {
    name: "diff",
    summary: "Show what differs between two releases of a stack.",
    load: async () => (await import("./diff_command.ts")).diffCommand,
  },
  {
    name: "rollback",
    summary: "Put a stack back to an earlier release, and keep it there.",
    load: async () => (await import("./rollback_command.ts")).rollbackCommand,
  },
  {
    name: "retry",
    summary: "Try a release of a stack that failed again now.",
    load: async () => (await import("./rollback_command.ts")).retryCommand,
  },
  {
    name: "hold",
    summary: "Hold a stack as it is, until it is resumed or a time has come.",
    load: async () => (await import("./hold_command.ts")).holdCommand,
  },
  {
    name: "resume",
    summary: "Let a stack that was held, or rolled back, follow its source again.",
    load: async () => (await import("./hold_command.ts")).resumeCommand,
  },
  {
    name: "unpin",
    summary: "Let automatic updates of a stack happen again after a rollback.",
    load: async () => (await import("./rollback_command.ts")).unpinCommand,
  },
  {
    name: "doctor",
    summary: "Say what the service would work with: engine, compose, git, sources, addresses.",
    load: async () => (await import("./doctor_command.ts")).doctorCommand,
  },
  {
    name: "adopt",
    summary: "Hand a stack to another repository or branch, with its volumes and files.",
    load: async () => (await import("./adopt_command.ts")).adoptCommand,
  },
  {
    name: "forget",
    summary: "Forget a stack whose context is not there any more.",
    load: async () => (await import("./forget_command.ts")).forgetCommand,
  },
  {
    name: "healthcheck",
    summary: "Ask the service on this host whether it is healthy.",
    load: async () => (await import("./healthcheck_command.ts")).healthcheckCommand,
  },
  {
    name: "completion",
    summary: "Print what completes commands in a shell.",
    load: async () => (await import("./completion_command.ts")).completionCommand(COMMANDS),
  },
  {
    name: "version",
    summary: "Print the version.",
    load: async () => (await import("./version_command.ts")).versionCommand,
  },
];
