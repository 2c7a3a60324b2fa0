/**
 * The Engine API: HTTP over a socket or TCP, typed calls, container status without inspection,
 * logs, events. The rest of the program uses the `Engine` interface.
 */
export { isRefusedChange } from "./api_refusal.ts";
export * from "./client_config.ts";
export { createEngine, type EngineClient } from "./client.ts";
export type { ContainerMounts } from "./container_mounts.ts";
export type { ContainerSummary } from "./container_summary.ts";
export * from "./context_store.ts";
export * from "./engine.ts";
export type { ContainerEvent } from "./events.ts";
export * from "./namespaces.ts";
export * from "./own_container.ts";
export * from "./own_mounts.ts";
export type * from "./swarm.ts";
export type * from "./swarm_bodies.ts";
