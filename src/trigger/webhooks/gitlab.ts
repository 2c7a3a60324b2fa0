import { otherEvent, type WebhookEvent } from "./event.ts";
import { isCommit, textAt } from "./payload.ts";

const PUSHES = new Set(["push hook", "tag push hook"]);
/** Event name of hooks for the whole instance, whose payload names the kind. */
const SYSTEM = "system hook";
const SYSTEM_PUSHES = new Set(["push", "tag_push"]);

/** Reads the payload of GitLab. `name` is the event. */
export function readGitlabPayload(name: string, payload: unknown): WebhookEvent {
  const repository = {
    fullName: textAt(payload, "project", "path_with_namespace"),
    cloneUrl: urlAt(payload, "git_http_url", "http_url"),
    sshUrl: urlAt(payload, "git_ssh_url", "ssh_url"),
  };
  if (!isPush(name.toLowerCase(), payload)) return otherEvent(repository, name);
  const checkedOut = textAt(payload, "checkout_sha");
  const after = textAt(payload, "after");
  const change = {
    reference: textAt(payload, "ref"),
    commit: isCommit(checkedOut) ? checkedOut : "",
    deleted: /^0+$/.test(after) && !isCommit(checkedOut),
  };
  return { kind: "push", repository, changes: [change] };
}

/** A clone URL: `project` has it under both names, `repository` under the current one. */
function urlAt(payload: unknown, name: string, older: string): string {
  return textAt(payload, "project", name) || textAt(payload, "repository", name) ||
    textAt(payload, "project", older);
}

function isPush(name: string, payload: unknown): boolean {
  if (name !== SYSTEM) return PUSHES.has(name);
  return SYSTEM_PUSHES.has(textAt(payload, "object_kind") || textAt(payload, "event_name"));
}
