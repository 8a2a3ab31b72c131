import { type Check, DoesNotApply } from './check.ts'
import { EXCHANGE_CHECKS } from './exchange-checks.ts'
import { connectTo, type PeerConnection } from './peer-under-test.ts'
import { API_CHECKS, REQUEST_CHECKS } from './request-checks.ts'
import { STREAM_CHECKS } from './stream-checks.ts'

const CHECKS: readonly Check[] = [...STREAM_CHECKS, ...REQUEST_CHECKS, ...API_CHECKS, ...EXCHANGE_CHECKS]

/** Whether one rule of the specification holds at a peer. */
export interface Finding {
  readonly section: string
  readonly rule: string
  readonly result: 'holds' | 'broken' | 'skipped'
  /** The peer's behaviour if the rule is broken, or the reason why the check was skipped. */
  readonly detail: string
}

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
  const found = (result: Finding['result'], detail: string): Finding => ({ section, rule, result, detail })
  if (needsApi === true && api === undefined) return found('skipped', 'give a free API of the peer with --api')
  const peer = connection.begin()
  try {
    await check.run({ peer, api })
    return found('holds', '')
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    return found(error instanceof DoesNotApply ? 'skipped' : 'broken', detail)
  } finally {
    peer.end()
  }
}
