import type { Check } from './check.ts'
import { EXCHANGE_CHECKS } from './exchange-checks.ts'
import { type Finding, judged } from './finding.ts'
import { KEY_CHECKS } from './key-checks.ts'
import { connectTo, type PeerConnection } from './peer-under-test.ts'
import { API_CHECKS, REQUEST_CHECKS } from './request-checks.ts'
import { STREAM_CHECKS } from './stream-checks.ts'

export { addressIn } from './peer-under-test.ts'

const CHECKS: readonly Check[] = [...STREAM_CHECKS, ...REQUEST_CHECKS, ...API_CHECKS, ...KEY_CHECKS, ...EXCHANGE_CHECKS]

export interface JudgeInit {
  /** Multiaddr with a peer id. */
  readonly address: string
  /** A free API of the peer, `name@provider`. Without it, checks that call an API are skipped. */
  readonly api?: string
}

/**
 * Plays a consumer against a peer, and says which rules of the specification hold, in the order of its sections.
 * @throws SoukError `invalid_request`, `owner_unreachable`
 */
export async function judgePeer({ address, api }: JudgeInit): Promise<readonly Finding[]> {
  const connection = await connectTo(address)
  try {
    // Waits run beside the others, each on its own stream.
    const slow = CHECKS.map((check) => (check.isSlow === true ? judge(check, connection, api) : undefined))
    const findings: Finding[] = []
    for (const [i, check] of CHECKS.entries()) findings.push(await (slow[i] ?? judge(check, connection, api)))
    return findings
  } finally {
    await connection.close()
  }
}

async function judge(check: Check, connection: PeerConnection, api: string | undefined): Promise<Finding> {
  const { section, rule, needsApi } = check
  if (needsApi === true && api === undefined) {
    return { section, rule, result: 'skipped', detail: 'give a free API of the peer with --api' }
  }
  const peer = connection.begin()
  try {
    return await judged(check, () => check.run({ peer, api }))
  } finally {
    peer.end()
  }
}
