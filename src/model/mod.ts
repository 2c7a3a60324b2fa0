/**
 * The values that flow through Stackwright: Work goes in, a Revision is read, a Release is made, a
 * Plan is decided, and a Run records how it ended. Types, and the few functions that belong to
 * them; nothing here touches the world or imports another room.
 */
export type { NotedJob, NotedRun } from "./noted_run.ts";
export * from "./texts.ts";
export * from "./json.ts";
export * from "./decision.ts";
export * from "./deployment.ts";
export * from "./discovered.ts";
export * from "./drift.ts";
export * from "./duration.ts";
export * from "./error.ts";
export * from "./failure_record.ts";
export * from "./followers.ts";
export * from "./heard.ts";
export * from "./image_names.ts";
export * from "./labels.ts";
export * from "./most_containers.ts";
export * from "./observed.ts";
export * from "./own_variables.ts";
export * from "./service_place.ts";
export * from "./shared_container.ts";
export * from "./shown_digests.ts";
export * from "./source_failure.ts";
export * from "./person_hold.ts";
export * from "./plan.ts";
export * from "./release.ts";
export * from "./revision.ts";
export * from "./run.ts";
export * from "./stack_key.ts";
export * from "./release_owner.ts";
export * from "./stack_owner.ts";
export * from "./target_event.ts";
export * from "./work.ts";
