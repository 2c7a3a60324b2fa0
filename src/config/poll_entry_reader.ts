import type { Problem, SourceRequest } from "../model/mod.ts";
import { accept } from "./checked.ts";
import { isConfigTarget } from "./config_file_names.ts";
import { decode } from "./decode.ts";
import { type InlineReading, readInlineDeployments } from "./deployment.ts";
import { type Located, positionAt } from "./located.ts";
import { DEFAULT_REFERENCE, pollEntrySchema, type WrittenPollEntry } from "./poll_schema.ts";
import { ProblemSink, type Report } from "./problem_sink.ts";
import { checkArtifactUrl, checkRepositoryUrl } from "./repository_url.ts";
import { scheduling, type TimingOptions } from "./poll_timing.ts";
import type { PollEntry } from "./poll_entry.ts";

/** Place of an entry, and how it is read. */
interface EntryOptions extends TimingOptions {
  readonly where: string;
  readonly index: number;
}

/** Reads one located value as a poll entry. */
export class PollReader {
  readonly entry: PollEntry;
  readonly problems: readonly Problem[];

  constructor(node: Located, options: EntryOptions) {
    const prefix = `[${options.index}]`;
    const sink = new ProblemSink(options.where, { prefix });
    const report: Report = (path, message) => sink.add(positionAt(node, path), path, message);
    const own = withoutDeployments(node);
    const { value } = decode(pollEntrySchema, own, sink);
    const inline = readInline(node, prefix, sink);
    const written: WrittenPollEntry = sink.clean ? value : { url: "https://unreadable/" };
    this.entry = {
      request: sourceRequest(written, inline, report),
      ...scheduling(written, node, options, report),
      runOnce: written.run_once ?? false,
      watch: written.watch ?? true,
    };
    this.problems = [...sink.problems, ...inline.problems];
  }
}

/** The entry without its inline deployments, which the reader of deployments reads. */
function withoutDeployments(node: Located): Located {
  if (node.kind !== "map") return node;
  const entries = new Map(node.entries);
  entries.delete("deployments");
  return { ...node, entries };
}

function readInline(node: Located, prefix: string, sink: ProblemSink): InlineReading {
  const list = node.kind === "map" ? node.entries.get("deployments")?.value : undefined;
  if (list?.kind === "list") {
    return readInlineDeployments(
      list.items,
      (index) => new ProblemSink(sink.file, { prefix: `${prefix}.deployments[${index}]` }),
    );
  }
  if (list !== undefined && list.kind !== "null") {
    sink.add(list.at, "deployments", "expected a list of deployments");
  }
  return { documents: [], problems: [] };
}

function sourceRequest(
  written: WrittenPollEntry,
  inline: InlineReading,
  report: Report,
): SourceRequest {
  const target = (written.target ?? "").trim();
  if (target !== "" && !isConfigTarget(target)) {
    report("target", "expected letters, digits, dots, dashes and underscores");
  }
  const kind = (written.source ?? "").trim().toLowerCase() === "oci" ? "oci" : "git";
  const place = kind === "oci" ? artifactPlace(written, report) : repositoryPlace(written, report);
  const deployments = inline.documents.map(({ deployment, given }) => ({ deployment, given }));
  return { kind, ...place, target, deployments };
}

function artifactPlace({ url }: WrittenPollEntry, report: Report) {
  return accept(checkArtifactUrl(url), "url", report) ?? { url: "", reference: "" };
}

function repositoryPlace({ url, reference }: WrittenPollEntry, report: Report) {
  return {
    url: accept(checkRepositoryUrl(url, true), "url", report) ?? "",
    reference: (reference ?? "").trim() || DEFAULT_REFERENCE,
  };
}
