import type { Logger } from '@libp2p/interface'
import { deadline, limits } from '../../lib/index.ts'
import type { Clock, MappedPort, PortMapping, Timer } from '../../lib/interface/index.ts'
import { mapByNatPmp } from './nat-pmp.ts'
import { privateNetworks, type PrivateNetwork } from './routers.ts'
import { searchRouters } from './ssdp.ts'
import { mapByUpnp, readRouter, unmapByUpnp } from './upnp.ts'

export interface PortMapperInit {
  readonly clock: Clock
  /** For the operator. */
  readonly tell: (line: string) => void
  /** Each failed attempt. */
  readonly log: Logger
  /** Default: the private networks of this machine. */
  readonly networks?: () => Promise<readonly PrivateNetwork[]>
  /** Default: where all UPnP devices listen. */
  readonly ssdp?: { readonly address: string; readonly port: number }
  /** Default 5351, which all routers use. */
  readonly natPmpPort?: number
}

/** A mapping that a router made. */
interface Made extends MappedPort {
  renew(signal: AbortSignal): Promise<number>
  remove(signal: AbortSignal): Promise<void>
}

const LIFETIME_S = limits.PORT_MAPPING_MS / 1_000

/**
 * Keeps a port of the router forwarded to this node, by NAT-PMP or else UPnP. It renews the mapping every `PORT_MAPPING_CHECK_MS`, because a
 * router forgets it when it restarts, and looks for a router as often.
 */
export class PortMapper implements PortMapping {
  readonly #init: PortMapperInit
  readonly #stopped = new AbortController()
  #made: Made | undefined
  #listener = () => {}
  #timer: Timer | undefined
  #checking: Promise<void> | undefined

  constructor(init: PortMapperInit) {
    this.#init = init
  }

  get mapped(): MappedPort | undefined {
    return this.#made && { port: this.#made.port, by: this.#made.by }
  }

  onChange(listener: () => void): void {
    this.#listener = listener
  }

  /**
   * Resolves after the first attempt.
   * @param port - the TCP port on which this node listens
   */
  start(port: number): Promise<void> {
    this.#checking = this.#check(port).finally(() => {
      if (!this.#stopped.signal.aborted)
        this.#timer = this.#init.clock.after(limits.PORT_MAPPING_CHECK_MS, () => void this.start(port))
    })
    return this.#checking
  }

  /** Removes the mapping. */
  async stop(): Promise<void> {
    this.#stopped.abort()
    this.#timer?.cancel()
    await this.#checking
    const made = this.#made
    this.#made = undefined
    if (made !== undefined) await this.#try(`removing the mapping by ${made.by}`, (signal) => made.remove(signal))
  }

  async #check(port: number): Promise<void> {
    const before = this.#made?.port
    const stopped = this.#stopped.signal
    const made = (await this.#renewed(stopped)) ?? (await this.#ask(port, stopped))
    // An aborted renewal leaves the mapping, which `stop` removes.
    if (made === undefined && stopped.aborted) return
    this.#made = made
    if (made?.port === before) return
    if (this.#made === undefined) this.#init.tell('No router forwards a port to this node any more.')
    else this.#init.tell(`The router forwards its TCP port ${this.#made.port} to this node (${this.#made.by}).`)
    this.#listener()
  }

  async #renewed(stopped: AbortSignal): Promise<Made | undefined> {
    const made = this.#made
    if (made === undefined) return undefined
    const port = await this.#try(`renewing the mapping by ${made.by}`, (signal) => made.renew(signal), stopped)
    return port === undefined ? undefined : { ...made, port }
  }

  async #ask(port: number, stopped: AbortSignal): Promise<Made | undefined> {
    const { networks = privateNetworks } = this.#init
    for (const network of await networks()) {
      if (stopped.aborted) return undefined
      const made = (await this.#byNatPmp(network, port, stopped)) ?? (await this.#byUpnp(network, port, stopped))
      if (made !== undefined) return made
    }
    return undefined
  }

  async #byNatPmp({ router }: PrivateNetwork, port: number, stopped: AbortSignal): Promise<Made | undefined> {
    const { clock, natPmpPort } = this.#init
    const common = { router, port, clock, ...(natPmpPort === undefined ? {} : { routerPort: natPmpPort }) }
    const map = (wanted: number, lifetimeS: number, signal: AbortSignal) =>
      mapByNatPmp({ ...common, wanted, lifetimeS, signal })
    const mapped = await this.#try('NAT-PMP', (signal) => map(port, LIFETIME_S, signal), stopped)
    if (mapped === undefined || mapped === 0) return undefined
    return {
      port: mapped,
      by: 'NAT-PMP',
      renew: (signal) => map(mapped, LIFETIME_S, signal),
      // RFC 6886, section 3.4: a lifetime of 0 and the port 0 remove a mapping.
      remove: async (signal) => void (await map(0, 0, signal))
    }
  }

  async #byUpnp({ address }: PrivateNetwork, port: number, stopped: AbortSignal): Promise<Made | undefined> {
    const { ssdp, clock } = this.#init
    const end = deadline(clock, limits.ROUTER_SEARCH_MS, () => new Error('the search ended'), stopped)
    const search = { from: address, signal: end.signal, ...(ssdp === undefined ? {} : { place: ssdp }) }
    const routers = await this.#try('a search for UPnP routers', () => searchRouters(search), stopped)
    end.clear()
    for (const description of routers ?? []) {
      const made = await this.#atRouter(description, port, stopped)
      if (made !== undefined) return made
    }
    return undefined
  }

  async #atRouter(description: URL, port: number, stopped: AbortSignal): Promise<Made | undefined> {
    const what = `UPnP at ${description.host}`
    const router = await this.#try(what, (signal) => readRouter(description, signal), stopped)
    if (router === undefined) return undefined
    const map = (wanted: number, signal: AbortSignal) =>
      mapByUpnp(router, { port, wanted, lifetimeS: LIFETIME_S }, signal)
    const mapped = await this.#try(what, (signal) => map(port, signal), stopped)
    if (mapped === undefined) return undefined
    const remove = (signal: AbortSignal) => unmapByUpnp(router, mapped, signal)
    return { port: mapped, by: 'UPnP', renew: (signal) => map(mapped, signal), remove }
  }

  /** Most networks have no such router, so a failure is not an error. */
  async #try<T>(
    what: string,
    attempt: (signal: AbortSignal) => Promise<T>,
    stopped?: AbortSignal
  ): Promise<T | undefined> {
    const { clock, log } = this.#init
    const limit = deadline(
      clock,
      limits.ROUTER_ANSWER_MS,
      () => new Error('the router did not respond in time'),
      stopped
    )
    try {
      return await attempt(limit.signal)
    } catch (error) {
      log('no port by %s: %s', what, error instanceof Error ? error.message : 'unknown error')
      return undefined
    } finally {
      limit.clear()
    }
  }
}
