import { otherEvent, type WebhookEvent } from "./event.ts";
import { isCommit, listAt, textAt } from "./payload.ts";

/** Reads a service hook of Azure DevOps, whose payload names the event. */
export function readAzurePayload(_name: string, payload: unknown): WebhookEvent {
  const project = textAt(payload, "resource", "repository", "project", "name");
  const name = textAt(payload, "resource", "repository", "name");
  const repository = {
    fullName: project === "" || name === "" ? name : `${project}/${name}`,
    cloneUrl: textAt(payload, "resource", "repository", "remoteUrl"),
    sshUrl: textAt(payload, "resource", "repository", "sshUrl"),
  };
  const event = textAt(payload, "eventType");
  const changes = listAt(payload, "resource", "refUpdates").flatMap((update) => {
    const reference = textAt(update, "name");
    const now = textAt(update, "newObjectId");
    const deleted = /^0+$/.test(now);
    return reference === "" ? [] : [{ reference, commit: isCommit(now) ? now : "", deleted }];
  });
  if (event !== "git.push" || changes.length === 0) return otherEvent(repository, event);
  return { kind: "push", repository, changes };
}
