import { readFile } from 'node:fs/promises'
import type { ComponentLogger } from '@libp2p/interface'
import { systemRandom } from '../../lib/index.ts'
import type { Clock, Souk } from '../../lib/interface/index.ts'
import type { Hosting } from '../accounts/hosting.ts'
import { createIngress, type IngressInit } from '../ingress/ingress.ts'
import type { Log } from '../log.ts'
import { dnsLookup, Scopes } from '../names/scopes.ts'
import type { NodeConfig } from '../node-config.ts'
import { SetupError } from '../setup-error.ts'
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
      tls: tls === undefined ? undefined : await readTls(tls)
    }
  })
  await using started = new AsyncDisposableStack()
  started.defer(() => ingress.close())
  const listening = await ingress.listen()
  tellMovedPort(log, 'ingress', port, listening.port)
  const running = started.move()
  return { url: listening.url, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

type TlsFiles = NonNullable<NonNullable<NodeConfig['ingress']>['tls']>

async function readTls({ certFile, keyFile }: TlsFiles): Promise<{ cert: string; key: string }> {
  const [cert, key] = await Promise.all(
    [certFile, keyFile].map((path) =>
      readFile(path, 'utf8').catch((error: unknown) => {
        throw new SetupError('config_invalid', `${path} cannot be read.`, { cause: error })
      })
    )
  )
  return { cert: cert ?? '', key: key ?? '' }
}
