import { type EngineApi, pathName } from "./api.ts";
import { asRecord, asText } from "./json.ts";
import type { Engine } from "./engine.ts";
import { imageId } from "./images.ts";
import type { Query } from "./api_request.ts";
import { asName, LONGEST_ID } from "./told.ts";

/** The calls of an engine that make resources and connect containers to networks. */
export function creatingCalls(api: EngineApi) {
  const connectNetwork: Engine["connectNetwork"] = async (network, place, signal) => {
    const path = `/networks/${pathName(network)}/connect`;
    const json = { Container: place.container, EndpointConfig: place.endpoint };
    await api.send({ method: "POST", path, json }, signal);
  };
  return {
    connectNetwork,
    disconnectNetwork: async (network, container, signal) => {
      const path = `/networks/${pathName(network)}/disconnect`;
      await api.send({ method: "POST", path, json: { Container: container } }, signal);
    },
    createContainer: async ({ name, body, imageId: wanted }, signal) => {
      const image = asText(body["Image"]);
      // The tag may point to another image by now.
      const isSame = await imageId(api, image, signal) === wanted;
      const json = isSame ? body : { ...body, Image: wanted };
      return await create(api, { name }, json, signal);
    },
    makeContainer: async ({ name, platform, body, connect }, signal) => {
      const query = { name, platform: platform === "" ? undefined : platform };
      const container = await create(api, query, body, signal);
      for (const [network, endpoint] of Object.entries(connect)) {
        await connectNetwork(network, { container, endpoint }, signal);
      }
      return container;
    },
    unpackInto: async (id, archive, signal) => {
      const path = `/containers/${pathName(id)}/archive`;
      await api.send({ method: "PUT", path, query: { path: "/" }, archive }, signal);
    },
    // A network that somebody made meanwhile is fine.
    makeNetwork: async (json, signal) =>
      void await api.send(
        { method: "POST", path: "/networks/create", json, accept: [409] },
        signal,
      ),
    // The engine answers with an existing volume, whatever its settings are.
    makeVolume: async (json, signal) =>
      void await api.send({ method: "POST", path: "/volumes/create", json }, signal),
  } satisfies Partial<Engine>;
}

async function create(api: EngineApi, query: Query, json: unknown, signal: AbortSignal) {
  const request = { method: "POST", path: "/containers/create", query, json } as const;
  return asName(asRecord(await api.json(request, signal))["Id"], LONGEST_ID);
}
