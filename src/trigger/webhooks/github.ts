import { valueAt } from "../../model/mod.ts";
import { otherEvent, pingEvent, type WebhookEvent, type WebhookRepository } from "./event.ts";
import { fullReference, isCommit, textAt } from "./payload.ts";

/** Reads payloads of GitHub and of Gitea, Forgejo, Gogs and others like it; `name` is the event. */
export function readGithubPayload(name: string, payload: unknown): WebhookEvent {
  const repository = {
    fullName: textAt(payload, "repository", "full_name"),
    cloneUrl: textAt(payload, "repository", "clone_url"),
    sshUrl: textAt(payload, "repository", "ssh_url"),
  };
  switch (name.toLowerCase()) {
    case "ping":
      return pingEvent(repository);
    case "push":
      return push(repository, payload);
    case "create":
    case "delete":
      return createOrDelete(repository, name, payload);
    default:
      return otherEvent(repository, name);
  }
}

function push(repository: WebhookRepository, payload: unknown): WebhookEvent {
  const before = textAt(payload, "before");
  const after = textAt(payload, "after");
  const deleted = valueAt(payload, "deleted") === true || (isCommit(before) && !isCommit(after));
  const commit = isCommit(after) ? after : "";
  const reference = textAt(payload, "ref");
  return { kind: "push", repository, changes: [{ reference, commit, deleted }] };
}

/** Reads `create` and `delete`: their reference is a short name, and absent for a repository. */
function createOrDelete(
  repository: WebhookRepository,
  name: string,
  payload: unknown,
): WebhookEvent {
  const type = textAt(payload, "ref_type");
  if (type !== "branch" && type !== "tag") return otherEvent(repository, name);
  const reference = fullReference(textAt(payload, "ref"), type);
  const deleted = name.toLowerCase() === "delete";
  return { kind: "push", repository, changes: [{ reference, commit: "", deleted }] };
}
