import { type EngineApi, pathName } from "./api.ts";
import type { ContainerWish, EndpointBody, NetworkBody, VolumeBody } from "./create_bodies.ts";
import { asRecord, asText } from "./json.ts";

/** Makes a container in all its networks, without starting it; returns its id. */
export async function makeContainer(
  api: EngineApi,
  { name, platform, body, connect }: ContainerWish,
  signal: AbortSignal,
): Promise<string> {
  const query = { name, platform: platform === "" ? undefined : platform };
  const request = { method: "POST", path: "/containers/create", query, json: body } as const;
  const id = asText(asRecord(await api.json(request, signal))["Id"]);
  for (const [network, endpoint] of Object.entries(connect)) {
    await connectNetwork(api, { network, container: id, endpoint }, signal);
  }
  return id;
}

/** Unpacks an archive at the root of a container's files. */
export async function unpackInto(
  api: EngineApi,
  { id, archive }: { readonly id: string; readonly archive: Uint8Array },
  signal: AbortSignal,
): Promise<void> {
  const path = `/containers/${pathName(id)}/archive`;
  await api.send({ method: "PUT", path, query: { path: "/" }, archive }, signal);
}

/** Gives a container a place in a network. */
export async function connectNetwork(
  api: EngineApi,
  { network, container, endpoint }: {
    readonly network: string;
    readonly container: string;
    readonly endpoint: EndpointBody;
  },
  signal: AbortSignal,
): Promise<void> {
  await api.send({
    method: "POST",
    path: `/networks/${pathName(network)}/connect`,
    json: { Container: container, EndpointConfig: endpoint },
  }, signal);
}

/** Takes a container out of a network; what it sends and gets there ends. */
export async function disconnectNetwork(
  api: EngineApi,
  { network, container }: { readonly network: string; readonly container: string },
  signal: AbortSignal,
): Promise<void> {
  const path = `/networks/${pathName(network)}/disconnect`;
  await api.send({ method: "POST", path, json: { Container: container } }, signal);
}

/** Makes a network; one that somebody made in between is fine. */
export async function makeNetwork(
  api: EngineApi,
  body: NetworkBody,
  signal: AbortSignal,
): Promise<void> {
  const path = "/networks/create";
  await api.send({ method: "POST", path, json: body, accept: [409] }, signal);
}

/** Makes a volume; the engine answers with the one that is there, whatever that is like. */
export async function makeVolume(
  api: EngineApi,
  body: VolumeBody,
  signal: AbortSignal,
): Promise<void> {
  await api.send({ method: "POST", path: "/volumes/create", json: body }, signal);
}
