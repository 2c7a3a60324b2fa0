/**
 * Bodies that the Engine API takes to make services, configs and secrets, as far as we ask for it.
 * The engine ignores a name that it does not know and answers as if all were well, so every name is
 * typed.
 */
import type { HealthBody, HostBody } from "./create_bodies.ts";

/** Body of `POST /services/create` and of an update. Times are nanoseconds. */
export interface ServiceBody {
  readonly Name: string;
  readonly Labels: Readonly<Record<string, string>>;
  readonly TaskTemplate: TaskBody;
  readonly Mode: ModeBody;
  readonly UpdateConfig?: UpdateBody;
  readonly RollbackConfig?: UpdateBody;
  readonly EndpointSpec?: EndpointSpecBody;
}

/** The form from which each task of a service is made. */
export interface TaskBody {
  readonly ContainerSpec: TaskContainerBody;
  readonly Resources?: {
    readonly Limits?: ResourceBody;
    readonly Reservations?: ResourceBody;
  };
  readonly RestartPolicy?: {
    readonly Condition?: string;
    readonly Delay?: number;
    readonly MaxAttempts?: number;
    readonly Window?: number;
  };
  readonly Placement?: PlacementBody;
  readonly Networks?: readonly AttachmentBody[];
  readonly LogDriver?: {
    readonly Name: string;
    readonly Options: Readonly<Record<string, string>>;
  };
  readonly ForceUpdate?: number;
}

/** The container of a task. */
export interface TaskContainerBody {
  readonly Image: string;
  readonly Labels?: Readonly<Record<string, string>>;
  /** The entrypoint. */
  readonly Command?: readonly string[];
  /** What compose calls the command. */
  readonly Args?: readonly string[];
  readonly Hostname?: string;
  readonly Env?: readonly string[];
  readonly Dir?: string;
  readonly User?: string;
  readonly Groups?: readonly string[];
  readonly Privileges?: {
    readonly NoNewPrivileges?: boolean;
    readonly CredentialSpec?: {
      readonly Config?: string;
      readonly File?: string;
      readonly Registry?: string;
    };
    readonly SELinuxContext?: {
      readonly Disable?: boolean;
      readonly User?: string;
      readonly Role?: string;
      readonly Type?: string;
      readonly Level?: string;
    };
    readonly Seccomp?: { readonly Mode: "default" | "unconfined" };
    readonly AppArmor?: { readonly Mode: "default" | "disabled" };
  };
  readonly TTY?: boolean;
  readonly OpenStdin?: boolean;
  readonly ReadOnly?: boolean;
  readonly Mounts?: readonly TaskMountBody[];
  readonly StopSignal?: string;
  readonly StopGracePeriod?: number;
  readonly Healthcheck?: HealthBody;
  /** `address name`, as a hosts file has it. */
  readonly Hosts?: readonly string[];
  readonly DNSConfig?: {
    readonly Nameservers?: readonly string[];
    readonly Search?: readonly string[];
    readonly Options?: readonly string[];
  };
  readonly Secrets?: readonly FileReferenceBody[];
  readonly Configs?: readonly FileReferenceBody[];
  readonly Init?: boolean;
  readonly Isolation?: string;
  readonly Sysctls?: Readonly<Record<string, string>>;
  readonly CapabilityAdd?: readonly string[];
  readonly CapabilityDrop?: readonly string[];
  readonly Ulimits?: HostBody["Ulimits"];
  readonly OomScoreAdj?: number;
}

/** A config or secret in a container. */
export interface FileReferenceBody {
  readonly SecretID?: string;
  readonly SecretName?: string;
  readonly ConfigID?: string;
  readonly ConfigName?: string;
  readonly File: {
    readonly Name: string;
    readonly UID: string;
    readonly GID: string;
    readonly Mode: number;
  };
}

/** A mount of a task. */
export interface TaskMountBody {
  readonly Type: "bind" | "volume" | "tmpfs" | "npipe" | "cluster";
  readonly Source?: string;
  readonly Target: string;
  readonly ReadOnly?: boolean;
  readonly Consistency?: string;
  readonly BindOptions?: {
    readonly Propagation?: string;
    readonly NonRecursive?: boolean;
  };
  readonly VolumeOptions?: {
    readonly NoCopy?: boolean;
    readonly Subpath?: string;
    readonly Labels?: Readonly<Record<string, string>>;
    readonly DriverConfig?: {
      readonly Name?: string;
      readonly Options?: Readonly<Record<string, string>>;
    };
  };
  readonly TmpfsOptions?: { readonly SizeBytes?: number; readonly Mode?: number };
}

/** Resources that a task may use at most, or is promised. */
interface ResourceBody {
  readonly NanoCPUs?: number;
  readonly MemoryBytes?: number;
  readonly Pids?: number;
  readonly GenericResources?: readonly {
    readonly DiscreteResourceSpec: { readonly Kind: string; readonly Value: number };
  }[];
}

/** On which nodes tasks may run. */
interface PlacementBody {
  readonly Constraints?: readonly string[];
  readonly Preferences?: readonly { readonly Spread: { readonly SpreadDescriptor: string } }[];
  readonly MaxReplicas?: number;
  readonly Platforms?: readonly { readonly Architecture: string; readonly OS: string }[];
}

/** A network of a task. */
interface AttachmentBody {
  readonly Target: string;
  readonly Aliases?: readonly string[];
  readonly DriverOpts?: Readonly<Record<string, string>>;
}

/** The number of tasks. */
export type ModeBody =
  | { readonly Replicated: { readonly Replicas: number } }
  | { readonly Global: Record<string, never> }
  | {
    readonly ReplicatedJob: {
      readonly MaxConcurrent: number;
      readonly TotalCompletions: number;
    };
  }
  | { readonly GlobalJob: Record<string, never> };

/** Rules for replacing tasks. */
export interface UpdateBody {
  readonly Parallelism: number;
  readonly Delay?: number;
  readonly FailureAction?: string;
  readonly Monitor?: number;
  readonly MaxFailureRatio?: number;
  readonly Order?: string;
}

/** Ports and addresses by which a service is reached. */
interface EndpointSpecBody {
  readonly Mode?: "vip" | "dnsrr";
  readonly Ports?: readonly {
    readonly Name?: string;
    readonly Protocol: string;
    readonly TargetPort: number;
    readonly PublishedPort?: number;
    readonly PublishMode: "ingress" | "host";
  }[];
}

/** Body of `POST /configs/create` and `POST /secrets/create`. */
export interface ObjectBody {
  readonly Name: string;
  readonly Labels: Readonly<Record<string, string>>;
  /** Base64. */
  readonly Data: string;
}
