/**
 * Bodies of the Engine API for making containers, networks and volumes, with the fields that we
 * use. The engine ignores unknown fields silently, so every field is typed.
 */

/** A map of texts, such as labels or options. */
export type Texts = Readonly<Record<string, string>>;

/** Optional members of one type; their names are joined by `|`. */
export type Maybe<Name extends string, Value> = { readonly [Each in Name]?: Value };

/** Body of `POST /containers/create`. */
export interface ContainerBody
  extends
    Maybe<"Cmd" | "Entrypoint", readonly string[]>,
    Maybe<"Hostname" | "Domainname" | "User" | "WorkingDir" | "StopSignal", string>,
    Maybe<"Tty" | "OpenStdin", boolean> {
  readonly Image: string;
  readonly AttachStdout: boolean;
  readonly AttachStderr: boolean;
  readonly Labels: Texts;
  readonly Env: readonly string[];
  /** Seconds. */
  readonly StopTimeout?: number;
  /** For engines without addresses of endpoints (API before 1.44). */
  readonly MacAddress?: string;
  readonly Healthcheck?: HealthBody;
  readonly ExposedPorts?: Readonly<Record<string, Record<string, never>>>;
  readonly HostConfig: HostBody;
  readonly NetworkingConfig?: Record<"EndpointsConfig", Readonly<Record<string, EndpointBody>>>;
}

/** A health check; durations in nanoseconds, 0 for the engine's default. */
export interface HealthBody
  extends Readonly<Record<"Interval" | "Timeout" | "StartPeriod" | "Retries", number>> {
  readonly Test: readonly string[] | null;
  readonly StartInterval?: number;
}

/** The host configuration of a container. */
export type HostBody =
  & Maybe<"NetworkMode" | "IpcMode" | "PidMode" | "UTSMode" | "CgroupnsMode" | "UsernsMode", string>
  & Maybe<"CgroupParent" | "Runtime" | "CpusetCpus", string>
  & Maybe<"Init" | "ReadonlyRootfs" | "Privileged" | "OomKillDisable", boolean>
  & Maybe<"CapAdd" | "CapDrop" | "SecurityOpt" | "MaskedPaths" | "ReadonlyPaths", readonly string[]>
  & Maybe<"GroupAdd" | "Dns" | "DnsSearch" | "DnsOptions" | "ExtraHosts", readonly string[]>
  & Maybe<"VolumesFrom" | "Binds" | "DeviceCgroupRules", readonly string[]>
  & Maybe<"Annotations" | "Sysctls" | "StorageOpt" | "Tmpfs", Texts>
  & Maybe<"OomScoreAdj" | "ShmSize" | "Memory" | "MemorySwap" | "MemorySwappiness", number>
  & Maybe<"MemoryReservation" | "NanoCpus" | "CpuShares" | "CpuPeriod" | "CpuQuota", number>
  & Maybe<"PidsLimit", number>
  & {
    readonly LogConfig?: { readonly Type: string; readonly Config: Texts };
    readonly RestartPolicy?: { readonly Name: string; readonly MaximumRetryCount: number };
    readonly PortBindings?: Readonly<Record<string, readonly PortBody[]>>;
    readonly Mounts?: readonly MountBody[];
    readonly Ulimits?: readonly Readonly<{ Name: string; Soft: number; Hard: number }>[];
    readonly Devices?: readonly Readonly<
      Record<"PathOnHost" | "PathInContainer" | "CgroupPermissions", string>
    >[];
  };

/** A published port of the host. */
export interface PortBody {
  readonly HostIp: string;
  readonly HostPort: string;
}

/** A mount that the short notation cannot express. */
export interface MountBody {
  readonly Type: "bind" | "volume" | "tmpfs";
  readonly Source?: string;
  readonly Target: string;
  readonly ReadOnly: boolean;
  readonly BindOptions?:
    & Maybe<"Propagation", string>
    & Maybe<"CreateMountpoint" | "NonRecursive", boolean>
    & Maybe<"ReadOnlyNonRecursive" | "ReadOnlyForceRecursive", boolean>;
  readonly VolumeOptions?: VolumeOptionsBody;
  readonly TmpfsOptions?: Maybe<"SizeBytes" | "Mode", number>;
}

/** Options of a mounted volume. */
export interface VolumeOptionsBody {
  readonly NoCopy?: boolean;
  readonly Subpath?: string;
  readonly Labels?: Texts;
}

/** A container's endpoint in one network. */
export interface EndpointBody {
  readonly Aliases: readonly string[];
  readonly IPAMConfig?:
    & Maybe<"IPv4Address" | "IPv6Address", string>
    & Maybe<"LinkLocalIPs", readonly string[]>;
  readonly MacAddress?: string;
  readonly DriverOpts?: Texts;
  readonly GwPriority?: number;
}

/** Body of `POST /networks/create`. */
export interface NetworkBody
  extends
    Maybe<"CheckDuplicate" | "Internal" | "Attachable" | "EnableIPv4" | "EnableIPv6", boolean> {
  readonly Name: string;
  readonly Driver?: string;
  readonly Options?: Texts;
  readonly Labels: Texts;
  readonly IPAM?: {
    readonly Driver?: string;
    readonly Config?: readonly (
      & Maybe<"Subnet" | "IPRange" | "Gateway", string>
      & Maybe<"AuxiliaryAddresses", Texts>
    )[];
  };
}

/** Body of `POST /volumes/create`. */
export interface VolumeBody {
  readonly Name: string;
  readonly Driver?: string;
  readonly DriverOpts?: Texts;
  readonly Labels: Texts;
}

/** A container to make. */
export interface ContainerWish {
  readonly name: string;
  /** Such as `linux/arm64`; empty for the engine's platform. */
  readonly platform: string;
  readonly body: ContainerBody;
  /** Networks by name to connect afterwards: engines before API 1.44 take one at creation. */
  readonly connect: Readonly<Record<string, EndpointBody>>;
}
