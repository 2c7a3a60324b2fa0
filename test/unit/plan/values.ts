import {
  LABELS,
  MANAGER,
  type ObservedContainer,
  type ReleaseService,
  type ServiceExpectation,
} from "../../../src/model/mod.ts";

/** One container, started by the deployment, allowed to end. */
export const EXPECTED: ServiceExpectation = {
  replicas: 1,
  restarts: false,
  mayFinish: true,
  oneShot: false,
  autostart: true,
};

/** A service of a release with digest `<name>-1`. */
export function serviceOf(name: string, fields: Partial<ReleaseService> = {}): ReleaseService {
  return {
    name,
    digest: `${name}-1`,
    inputs: { definition: `${name}-definition` },
    expectation: EXPECTED,
    image: `${name}:1`,
    builds: false,
    follows: {},
    dependsOn: [],
    ...fields,
  };
}

/** A running container of ours, made by {@link serviceOf} of the same name. */
export function containerOf(
  service: string,
  fields: Partial<ObservedContainer> = {},
): ObservedContainer {
  return {
    id: `${service}-id`,
    name: `stack-${service}-1`,
    service,
    state: "running",
    health: "none",
    exitCode: undefined,
    imageId: "sha256:old",
    labels: { [LABELS.manager]: MANAGER, [LABELS.digest]: `${service}-1` },
    ...fields,
  };
}
