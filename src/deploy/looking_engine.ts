import type { ContainerDetails, EngineClient, ServiceChange } from "../docker/mod.ts";
import { asLabels } from "../docker/told.ts";
import {
  asList,
  asRecord,
  asText,
  asTextList,
  type Json,
  type JsonRecord,
} from "../docker/json.ts";
import { COMPOSE_LABELS, isOurs } from "../model/mod.ts";
import type { KnownMount } from "./mounts_inside.ts";
import { getsTasks, mountsOf } from "./jobs/swarm_job.ts";
import { STACK_LABELS } from "./swarm/stack_parts.ts";

/** What is about to be made or started, as the engine has it. */
export interface Looked {
  /** Its compose project or stack, for messages; may be empty. */
  readonly stack: string;
  /** Words for it: `container shop-web-1`. */
  readonly what: string;
  /** Whether Stackwright made it, by its labels, and no person. */
  readonly isOurs: boolean;
  readonly mounts: readonly KnownMount[];
  /** Its `HostConfig`; a service of a swarm has none. */
  readonly host?: JsonRecord | undefined;
}

/** Questions about what is about to start. */
interface Judge {
  /** Whether the engine is one whose mounts are looked at. */
  applies(signal: AbortSignal): Promise<boolean>;
  /** Throws for what must not start; then nothing is changed. */
  requireAllowed(looked: Looked, signal: AbortSignal): Promise<void>;
}

/**
 * An engine that looks at all that a container really mounts before it makes, starts or restarts it,
 * whoever made that and whenever, unpacks files into it, or gives a service tasks: mounts may come from
 * other containers, and the engine follows links anew each time. So no caller can forget it.
 */
export function lookingEngine(engine: EngineClient, judge: Judge): EngineClient {
  const look = async (id: string, signal: AbortSignal) => {
    if (!await judge.applies(signal)) return;
    const details = await engine.inspectContainer(id, signal);
    if (details !== undefined) await judge.requireAllowed(ofContainer(details), signal);
  };
  const lookAtWish = async (name: string, body: Json, signal: AbortSignal) => {
    if (await judge.applies(signal)) await judge.requireAllowed(ofWish(name, body), signal);
  };
  const lookAtTasks = async ({ body }: ServiceChange, signal: AbortSignal) => {
    const spec = asRecord(body);
    if (!getsTasks(spec) || !await judge.applies(signal)) return;
    const what = `service ${asText(spec["Name"])}`;
    const labels = asLabels(spec["Labels"]);
    const stack = labels[STACK_LABELS.namespace] ?? "";
    const looked = { stack, what, isOurs: isOurs({ labels }), mounts: mountsOf({ spec }) };
    await judge.requireAllowed(looked, signal);
  };
  const { swarm } = engine;
  return {
    ...engine,
    async createContainer(recipe, signal) {
      await lookAtWish(recipe.name, asRecord(recipe.body), signal);
      return await engine.createContainer(recipe, signal);
    },
    async makeContainer(wish, signal) {
      await lookAtWish(wish.name, wish.body as unknown as Json, signal);
      return await engine.makeContainer(wish, signal);
    },
    async startContainer(id, signal) {
      await look(id, signal);
      await engine.startContainer(id, signal);
    },
    async restartContainer(id, how, signal) {
      await look(id, signal);
      await engine.restartContainer(id, how, signal);
    },
    async unpackInto(id, archive, signal) {
      await look(id, signal);
      await engine.unpackInto(id, archive, signal);
    },
    look,
    swarm: {
      ...swarm,
      async createService(change, signal) {
        await lookAtTasks(change, signal);
        return await swarm.createService(change, signal);
      },
      async updateService(service, change, signal) {
        await lookAtTasks(change, signal);
        await swarm.updateService(service, change, signal);
      },
    },
  };
}

function ofContainer({ container, mounts, host }: ContainerDetails): Looked {
  const { name, labels } = container;
  const stack = labels[COMPOSE_LABELS.project] ?? "";
  return { stack, what: `container ${name}`, isOurs: isOurs({ labels }), mounts, host };
}

/** The body of a request for a container; what it takes from other containers is not known yet. */
function ofWish(name: string, body: Json): Looked {
  const { Labels, HostConfig } = asRecord(body);
  const labels = asLabels(Labels);
  const host = asRecord(HostConfig);
  const lines = asTextList(host["Binds"]).map((each) => {
    const source = each.split(":")[0] ?? "";
    return source.startsWith("/")
      ? { kind: "bind", name: "", source }
      : { kind: "volume", name: source, source: "" };
  });
  const mounts = asList(host["Mounts"]).map((each) => {
    const { Type, Source } = asRecord(each);
    const [kind, source] = [asText(Type), asText(Source)];
    return kind === "volume" ? { kind, name: source, source: "" } : { kind, name: "", source };
  });
  const stack = labels[COMPOSE_LABELS.project] ?? "";
  const what = `container ${name}`;
  return { stack, what, isOurs: isOurs({ labels }), mounts: [...lines, ...mounts], host };
}
