import { valueAt, withoutEnd } from "../../model/mod.ts";
import {
  otherEvent,
  pingEvent,
  type WebhookChange,
  type WebhookEvent,
  type WebhookRepository,
} from "./event.ts";
import { fullReference, isCommit, listAt, textAt } from "./payload.ts";

/** Reads the payload of Bitbucket, Cloud or Data Center, which share nothing but the name. */
export function readBitbucketPayload(name: string, payload: unknown): WebhookEvent {
  switch (name.toLowerCase()) {
    case "repo:push":
      return pushOrOther(cloudRepository(payload), name, cloudChanges(payload));
    case "repo:refs_changed":
      return pushOrOther(serverRepository(payload), name, serverChanges(payload));
    case "diagnostics:ping":
      return pingEvent(serverRepository(payload));
    default:
      return otherEvent(cloudRepository(payload), name);
  }
}

function pushOrOther(
  repository: WebhookRepository,
  name: string,
  changes: readonly WebhookChange[],
): WebhookEvent {
  return changes.length === 0
    ? otherEvent(repository, name)
    : { kind: "push", repository, changes };
}

/** Cloud payloads have the address of the page, from which the repository can be cloned, too. */
function cloudRepository(payload: unknown): WebhookRepository {
  const fullName = textAt(payload, "repository", "full_name");
  const page = withoutEnd(textAt(payload, "repository", "links", "html", "href"), "/");
  const host = /^https:\/\/(bitbucket\.org)\//i.exec(page)?.[1];
  return {
    fullName,
    cloneUrl: page === "" ? "" : `${page}.git`,
    sshUrl: host === undefined || fullName === "" ? "" : `git@${host}:${fullName}.git`,
  };
}

function cloudChanges(payload: unknown): WebhookChange[] {
  return listAt(payload, "push", "changes").flatMap((change) => {
    const now = valueAt(change, "new");
    const deleted = now === null || now === undefined;
    const named = deleted ? valueAt(change, "old") : now;
    const type = textAt(named, "type") === "tag" ? "tag" : "branch";
    const reference = fullReference(textAt(named, "name"), type);
    const commit = textAt(now, "target", "hash");
    return reference === "" ? [] : [{ reference, commit: isCommit(commit) ? commit : "", deleted }];
  });
}

function serverRepository(payload: unknown): WebhookRepository {
  const project = textAt(payload, "repository", "project", "key");
  const slug = textAt(payload, "repository", "slug");
  const link = (...names: readonly string[]) =>
    listAt(payload, "repository", "links", "clone")
      .filter((each) => names.includes(textAt(each, "name")))
      .map((each) => textAt(each, "href"))[0] ?? "";
  return {
    fullName: project === "" || slug === "" ? slug : `${project}/${slug}`,
    cloneUrl: link("https", "http"),
    sshUrl: link("ssh"),
  };
}

function serverChanges(payload: unknown): WebhookChange[] {
  return listAt(payload, "changes").flatMap((change) => {
    const type = textAt(change, "ref", "type") === "TAG" ? "tag" : "branch";
    const full = textAt(change, "ref", "id") || textAt(change, "refId");
    const reference = full || fullReference(textAt(change, "ref", "displayId"), type);
    const commit = textAt(change, "toHash");
    const deleted = textAt(change, "type") === "DELETE";
    return reference === "" ? [] : [{ reference, commit: isCommit(commit) ? commit : "", deleted }];
  });
}
