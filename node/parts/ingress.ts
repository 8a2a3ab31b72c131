import type { ComponentLogger } from '@libp2p/interface'
import { systemRandom } from '../../lib/index.ts'
import type { Clock, Souk } from '../../lib/interface/index.ts'
import type { Hosting } from '../accounts/hosting.ts'
import { readCertificate, watchCertificate } from '../ingress/certificate.ts'
import { createIngress, type IngressInit } from '../ingress/ingress.ts'
import type { Log } from '../log.ts'
import { dnsLookup, Scopes } from '../names/scopes.ts'
import type { NodeConfig } from '../node-config.ts'
import type { SubscriptionParts } from '../subscriptions/open.ts'
import { tellMovedPort } from './tell-ports.ts'

export interface IngressPartInit extends Pick<IngressInit, 'refusal'> {
  readonly config: NodeConfig
  readonly log: Log
  readonly logger: ComponentLogger
  readonly clock: Clock
  readonly souk: Pick<Souk, 'call' | 'search' | 'resolve' | 'reputation' | 'descriptions' | 'pinned'>
  readonly hosting: Hosting
  readonly subscriptions: SubscriptionParts
}

/** The ingress for consumers, if the node has one. Disposal refuses new requests and waits for running calls. */
export interface IngressPart extends AsyncDisposable {
  readonly url: string | undefined
}

/** @throws SetupError `port_busy`, `config_invalid`, `start_failed` */
export async function startIngress({ config, hosting, ...init }: IngressPartInit): Promise<IngressPart> {
  if (config.ingress === undefined) return { url: undefined, async [Symbol.asyncDispose]() {} }
  const { tls, port, ...rest } = config.ingress
  const { souk, clock, log } = init
  const certificate = tls === undefined ? undefined : await readCertificate(tls)
  const ingress = createIngress({
    ...hosting,
    ...init,
    scopes: new Scopes({ souk, lookup: dnsLookup(), clock }),
    money: config.network.money,
    random: systemRandom,
    options: {
      ...rest,
      ...port,
      opensAccounts: config.accounts ?? false,
      selfService: config.selfService ?? true,
      tls: certificate
    }
  })
  await using started = new AsyncDisposableStack()
  started.defer(() => ingress.close())
  const listening = await ingress.listen()
  tellMovedPort(log, 'ingress', port, listening.port)
  if (tls !== undefined && certificate !== undefined) {
    const watch = watchCertificate({ files: tls, first: certificate, use: ingress.renew, clock, log })
    started.defer(() => watch.cancel())
  }
  const running = started.move()
  return { url: listening.url, [Symbol.asyncDispose]: () => running.disposeAsync() }
}
