/**
 * Bodies that the Engine API takes to make containers, networks and volumes, as far as we ask for it.
 * The engine ignores a name that it does not know and answers as if all were well, so every name is
 * typed.
 */

/** Body of `POST /containers/create`. */
export interface ContainerBody {
  readonly Image: string;
  readonly AttachStdout: boolean;
  readonly AttachStderr: boolean;
  readonly Labels: Readonly<Record<string, string>>;
  readonly Env: readonly string[];
  readonly Cmd?: readonly string[];
  readonly Entrypoint?: readonly string[];
  readonly Hostname?: string;
  readonly Domainname?: string;
  readonly User?: string;
  readonly WorkingDir?: string;
  readonly Tty?: boolean;
  readonly OpenStdin?: boolean;
  readonly StopSignal?: string;
  /** Seconds. */
  readonly StopTimeout?: number;
  /** Only for engines that know no address of an endpoint (API before 1.44). */
  readonly MacAddress?: string;
  readonly Healthcheck?: HealthBody;
  readonly ExposedPorts?: Readonly<Record<string, Record<string, never>>>;
  readonly HostConfig: HostBody;
  readonly NetworkingConfig?: {
    readonly EndpointsConfig: Readonly<Record<string, EndpointBody>>;
  };
}

/** A health check; times are nanoseconds, 0 for the engine's own. */
export interface HealthBody {
  readonly Test: readonly string[] | null;
  readonly Interval: number;
  readonly Timeout: number;
  readonly StartPeriod: number;
  readonly StartInterval?: number;
  readonly Retries: number;
}

/** The share of its host that a container gets. */
export interface HostBody {
  readonly NetworkMode?: string;
  readonly IpcMode?: string;
  readonly PidMode?: string;
  readonly UTSMode?: string;
  readonly CgroupnsMode?: string;
  readonly UsernsMode?: string;
  readonly CgroupParent?: string;
  readonly Runtime?: string;
  readonly Init?: boolean;
  readonly ReadonlyRootfs?: boolean;
  readonly Privileged?: boolean;
  readonly CapAdd?: readonly string[];
  readonly CapDrop?: readonly string[];
  readonly SecurityOpt?: readonly string[];
  readonly MaskedPaths?: readonly string[];
  readonly ReadonlyPaths?: readonly string[];
  readonly Annotations?: Readonly<Record<string, string>>;
  readonly Sysctls?: Readonly<Record<string, string>>;
  readonly StorageOpt?: Readonly<Record<string, string>>;
  readonly GroupAdd?: readonly string[];
  readonly OomScoreAdj?: number;
  readonly OomKillDisable?: boolean;
  readonly Dns?: readonly string[];
  readonly DnsSearch?: readonly string[];
  readonly DnsOptions?: readonly string[];
  readonly ExtraHosts?: readonly string[];
  readonly VolumesFrom?: readonly string[];
  readonly LogConfig?: { readonly Type: string; readonly Config: Readonly<Record<string, string>> };
  readonly RestartPolicy?: { readonly Name: string; readonly MaximumRetryCount: number };
  readonly PortBindings?: Readonly<Record<string, readonly PortBody[]>>;
  readonly Tmpfs?: Readonly<Record<string, string>>;
  readonly Binds?: readonly string[];
  readonly Mounts?: readonly MountBody[];
  readonly ShmSize?: number;
  readonly Memory?: number;
  readonly MemorySwap?: number;
  readonly MemorySwappiness?: number;
  readonly MemoryReservation?: number;
  readonly NanoCpus?: number;
  readonly CpuShares?: number;
  readonly CpuPeriod?: number;
  readonly CpuQuota?: number;
  readonly CpusetCpus?: string;
  readonly PidsLimit?: number;
  readonly Ulimits?: readonly {
    readonly Name: string;
    readonly Soft: number;
    readonly Hard: number;
  }[];
  readonly Devices?: readonly {
    readonly PathOnHost: string;
    readonly PathInContainer: string;
    readonly CgroupPermissions: string;
  }[];
  readonly DeviceCgroupRules?: readonly string[];
}

/** One port of the host. */
export interface PortBody {
  readonly HostIp: string;
  readonly HostPort: string;
}

/** One mount that a line of text cannot say. */
export interface MountBody {
  readonly Type: "bind" | "volume" | "tmpfs";
  readonly Source?: string;
  readonly Target: string;
  readonly ReadOnly: boolean;
  readonly BindOptions?: {
    readonly Propagation?: string;
    readonly CreateMountpoint?: boolean;
    readonly NonRecursive?: boolean;
    readonly ReadOnlyNonRecursive?: boolean;
    readonly ReadOnlyForceRecursive?: boolean;
  };
  readonly VolumeOptions?: {
    readonly NoCopy?: boolean;
    readonly Subpath?: string;
    readonly Labels?: Readonly<Record<string, string>>;
  };
  readonly TmpfsOptions?: { readonly SizeBytes?: number; readonly Mode?: number };
}

/** A container's place in one network. */
export interface EndpointBody {
  readonly Aliases: readonly string[];
  readonly IPAMConfig?: {
    readonly IPv4Address?: string;
    readonly IPv6Address?: string;
    readonly LinkLocalIPs?: readonly string[];
  };
  readonly MacAddress?: string;
  readonly DriverOpts?: Readonly<Record<string, string>>;
  readonly GwPriority?: number;
}

/** Body of `POST /networks/create`. */
export interface NetworkBody {
  readonly Name: string;
  readonly CheckDuplicate?: boolean;
  readonly Driver?: string;
  readonly Options?: Readonly<Record<string, string>>;
  readonly Internal?: boolean;
  readonly Attachable?: boolean;
  readonly EnableIPv4?: boolean;
  readonly EnableIPv6?: boolean;
  readonly Labels: Readonly<Record<string, string>>;
  readonly IPAM?: {
    readonly Driver?: string;
    readonly Config?: readonly {
      readonly Subnet?: string;
      readonly IPRange?: string;
      readonly Gateway?: string;
      readonly AuxiliaryAddresses?: Readonly<Record<string, string>>;
    }[];
  };
}

/** Body of `POST /volumes/create`. */
export interface VolumeBody {
  readonly Name: string;
  readonly Driver?: string;
  readonly DriverOpts?: Readonly<Record<string, string>>;
  readonly Labels: Readonly<Record<string, string>>;
}

/** A container to be made. */
export interface ContainerWish {
  readonly name: string;
  /** Such as `linux/arm64`; empty for the engine's own. */
  readonly platform: string;
  readonly body: ContainerBody;
  /** Networks by name that it is connected to after it was made, for engines that take one (API before 1.44). */
  readonly connect: Readonly<Record<string, EndpointBody>>;
}
