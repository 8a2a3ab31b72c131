import { generateKeyPairFromSeed } from '@libp2p/crypto/keys'
import { createNode, handler, type SoukNode } from '../../../lib/index.ts'
import type { Rng } from '../rng.ts'
import { corrupt, type Ghosts, type Hostility, HOSTILITY } from './hostile.ts'
import { LookupLog } from './lookup-log.ts'
import type { VirtualTime } from './virtual-time.ts'
import { Wire } from './wire.ts'

const NETWORK = 'simulated'
/** Nodes whose addresses every node knows. The last of them loses its power like others. */
const BOOTSTRAP = 3
/** Nodes that join together. */
const JOINING = 20

export interface Machine {
  readonly host: string
  readonly node: SoukNode
  readonly log: LookupLog
  readonly hostility: Hostility | undefined
  name: string | undefined
}

/** A simulated network of nodes with the code of real ones, except for TCP and Noise. */
export class Market {
  readonly wire = new Wire()
  /** Only machines that are up, because the others would take most of the memory. */
  machines: readonly Machine[] = []
  /** Names of peers in the logs, by id: address, state, and what the machine does. */
  readonly #names = new Map<string, string>()
  #bootstrap: readonly Machine[] = []
  readonly #time: VirtualTime
  readonly #ghosts: Ghosts
  readonly #rng: Rng
  #made = 0
  #served = 0

  constructor(time: VirtualTime, ghosts: Ghosts, rng: Rng) {
    this.#time = time
    this.#rng = rng
    this.#ghosts = ghosts
  }

  get honest(): Machine[] {
    return this.machines.filter(({ hostility }) => hostility === undefined)
  }

  /** Honest nodes that serve a name. */
  get owners(): Machine[] {
    return this.honest.filter(({ name }) => name !== undefined)
  }

  async grow(count: number): Promise<void> {
    for (let left = count; left > 0; ) {
      // Every joining node needs one that listens.
      const joining = this.machines.length === 0 ? 1 : Math.min(JOINING, left)
      left -= joining
      await this.#time.run(Promise.all(Array.from({ length: joining }, () => this.#add())))
    }
  }

  async #add(): Promise<void> {
    const index = ++this.#made
    const host = `10.0.${index >> 8}.${index & 255}`
    const bootstrap = this.#bootstrap.flatMap(({ node }) => node.libp2p.getMultiaddrs().map(String))
    const log = new LookupLog(() => this.#time.elapsed)
    const node = await createNode({
      privateKey: await generateKeyPairFromSeed('Ed25519', this.#rng.fill(new Uint8Array(32))),
      random: this.#rng,
      network: NETWORK,
      bootstrap,
      transports: [this.wire.transport(host)],
      listen: [`/ip4/${host}/tcp/4402`],
      logger: log
    })
    await node.start()
    // Every tenth.
    const hostility = index % 10 === 9 ? HOSTILITY[Math.floor(index / 10) % HOSTILITY.length] : undefined
    const machine: Machine = { host, node, log, hostility, name: undefined }
    this.machines = [...this.machines, machine]
    this.#bootstrap = [...this.#bootstrap, machine].slice(0, BOOTSTRAP)
    this.#is(machine, 'up')
    if (hostility === undefined) return
    const names = () => this.owners.map(({ name }) => name ?? '')
    void corrupt(node, hostility, this.#ghosts, names)
  }

  async publish(machine: Machine): Promise<void> {
    machine.name = `api-${++this.#served}`
    this.#is(machine, 'up')
    await machine.node.souk.serve(
      { name: machine.name, price: '0', tags: ['simulated'] },
      handler(({ body }) => body)
    )
  }

  async leave(machine: Machine): Promise<void> {
    this.#remove(machine, 'left')
    await machine.node.stop()
  }

  /** Stops the node as well, to save its time. Its peers do not notice, because the wire drops what it sends. */
  powerOff(machine: Machine): void {
    this.#remove(machine, 'dead')
    this.wire.powerOff(machine.host)
    void machine.node.stop()
  }

  /** Replaces the ids of peers by their addresses and states. */
  named(text: string): string {
    return text.replaceAll(/12D3Koo\w+/g, (id) => this.#names.get(id) ?? 'nobody')
  }

  #remove(machine: Machine, state: string): void {
    this.machines = this.machines.filter((other) => other !== machine)
    this.#is(machine, state)
  }

  #is({ host, node, hostility, name }: Machine, state: string): void {
    const words = [host, state, hostility, name].filter((word) => word !== undefined)
    this.#names.set(node.libp2p.peerId.toString(), words.join('/'))
  }
}
