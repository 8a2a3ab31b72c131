import { createRequire } from 'node:module'
import { utf8 } from '../../lib/base/bytes.ts'
import { SOAP_STEPS_MAX } from '../../lib/base/limits/soap.ts'
import { Meter } from '../../protocols/pattern/meter.ts'
import { soapFactory } from '../../protocols/index.ts'
import { openSnapshot } from '../../protocols/soap/snapshot.ts'
import { translateRequest } from '../../protocols/soap/translation.ts'
import type { Origin } from './loopback.ts'
import { Player } from './player.ts'
import { LARGE_OPERATIONS, largeWsdl } from './soap-large.ts'
import type { NodeSoap } from './soap-peers.ts'
import { median } from './statistics.ts'
import type { Ratio } from './suite.ts'

const ROUNDS = 5
/** The first rounds warm up the compiler. */
const WARM_UPS = 1

export interface Loads {
  readonly megabytes: number
  readonly soukMs: number
  readonly nodeSoapMs: number
  readonly reopenMs: number
  readonly ratios: readonly Ratio[]
}

/**
 * The time from a large WSDL's address until calls are possible, and from a stored registration to the first request, as at a
 * second start. The subjects alternate.
 */
export async function measureLoads(upstream: URL): Promise<Loads> {
  const wsdl = largeWsdl(LARGE_OPERATIONS)
  const service = await Player.start<Origin>(upstream, { wsdl })
  try {
    const endpoint = `${service.info.origin}/svc?wsdl`
    const nodeSoap = createRequire(import.meta.url)('soap') as NodeSoap
    const theirs: number[] = []
    const ours: number[] = []
    const reopened: number[] = []
    for (let round = 0; round < WARM_UPS + ROUNDS; round++) {
      const times = [
        await ms(() => nodeSoap.createClientAsync(endpoint, { disableCache: true })),
        await ms(async () => {
          const { snapshot } = await soapFactory.inspect({ endpoint }, new AbortController().signal)
          await soapFactory.open({ endpoint }, snapshot).close?.()
        })
      ] as const
      const { snapshot } = await soapFactory.inspect({ endpoint }, new AbortController().signal)
      const again = await ms(() => firstRequest(snapshot, round))
      if (round < WARM_UPS) continue
      theirs.push(times[0])
      ours.push(times[1])
      reopened.push(again)
    }
    const [nodeSoapMs, soukMs, reopenMs] = [median(theirs), median(ours), median(reopened)]
    return {
      megabytes: wsdl.length / 1e6,
      soukMs,
      nodeSoapMs,
      reopenMs,
      ratios: [
        { name: 'soap_load_4m', value: nodeSoapMs / soukMs, better: 'higher', aim: 1, of: 'ms of node-soap ÷ ours' },
        {
          name: 'soap_reopen_4m',
          value: reopenMs,
          better: 'lower',
          of: 'ms from what a registration keeps to a request'
        }
      ]
    }
  } finally {
    await service.stop()
  }
}

function firstRequest(snapshot: string, n: number): void {
  const { service } = openSnapshot(snapshot)
  const call = { operation: `findRecord${n}`, query: 'a', like: { id: 1, name: 'n', changed: null, revision: 1 } }
  translateRequest(service, { bytes: utf8(JSON.stringify(call)), type: undefined }, new Meter(SOAP_STEPS_MAX))
}

async function ms(work: () => unknown): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}
