/** A port of the local network's router that the router forwards to this node. */
export interface MappedPort {
  readonly port: number
  /** The protocol by which the router was asked. */
  readonly by: 'UPnP' | 'NAT-PMP'
}

/** Asks the router of the local network to forward a TCP port to this node. */
export interface PortMapping {
  /** Undefined while no router forwards a port. A router may claim it wrongly, so peers have to confirm it. */
  readonly mapped: MappedPort | undefined
  /** Calls the listener when `mapped` changes. There is one listener. */
  onChange(listener: () => void): void
}
