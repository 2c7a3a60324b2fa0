import { COMPOSE_LABELS, isOurs, LABELS, PEER_REFERENCE, peerUrl } from "../model/mod.ts";
import { STACK_LABELS } from "./swarm/stack_parts.ts";

/** What a container, a service, a volume or a network says of itself by its labels. */
export interface Mark {
  readonly maker: "stackwright" | "doco-cd" | "nobody";
  /** Stack or project that it was made for; empty without any. */
  readonly stack: string;
  /** Source with the configuration; on containers only, and none by older versions. */
  readonly configuration?: string | undefined;
  /** Repository that it was deployed from; a URL of doco-cd's. */
  readonly deployed?: string | undefined;
  /** Branch or tag that doco-cd deployed it from, as somebody wrote it. */
  readonly reference?: string | undefined;
}

/** Reads a {@link Mark} from labels. */
export function readMark(labels: Readonly<Record<string, string>>): Mark {
  const project = labels[COMPOSE_LABELS.project] ?? labels[STACK_LABELS.namespace] ?? "";
  if (isOurs({ labels })) {
    const { [LABELS.sourceConfiguration]: configuration, [LABELS.sourceName]: deployed } = labels;
    const stack = labels[LABELS.deployment] ?? project;
    return { maker: "stackwright", stack, configuration, deployed };
  }
  const url = peerUrl(labels);
  if (url === "") return { maker: "nobody", stack: project };
  return { maker: "doco-cd", stack: project, deployed: url, reference: labels[PEER_REFERENCE] };
}
