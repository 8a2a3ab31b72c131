import { limits, systemClock } from '../../lib/index.ts'
import { type KitOwner, startKitOwner } from './kit-owner.ts'
import { DoesNotApply, expect } from './check.ts'
import { type Finding, judged } from './finding.ts'
import { OWNER_EPOCH, type ReceivedCall } from './owner-session.ts'

export interface JudgeConsumerInit {
  /** Network that the owner says in its hello. */
  readonly network: string
  /** Multiaddr to listen on. */
  readonly listen: string
  /** Called with what the consumer has to call, again and again until the result is there. */
  readonly onReady: (owner: { readonly address: string; readonly api: string }) => void
  /** Longest wait for the consumer's next call. Default `CONFORMANCE_CALLS_MS`. */
  readonly timeoutMs?: number
}

interface Rule {
  readonly section: string
  readonly rule: string
  /** @throws Error with what the consumer did instead */
  check(): void | Promise<void>
}

/** What the owner does with one call, and which rules it judges by it. */
type Scenario = (owner: KitOwner, call: ReceivedCall) => readonly Rule[]

/** Responds to a call. Its consumer has to keep the stream open. */
async function expectTaken(call: ReceivedCall): Promise<void> {
  call.session.respond(call)
  expect(await call.session.stays(), 'it reset the stream')
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** Looks at the request, and responds. */
const plain: Scenario = (owner, call) => {
  const { session, request, requestId, id } = call
  const rule = (section: string, text: string, check: Rule['check']): Rule => ({ section, rule: text, check })
  return [
    rule('3.2', 'says hello first', () => expect(!session.isUnannounced, 'a frame came before its hello')),
    rule('3.2', 'names its network, and an epoch above 0', () => {
      const [network, epoch] = [session.hello?.text(1), session.hello?.integer(2) ?? 0n]
      expect(network === owner.network, `its network is ${network}`)
      expect(epoch > 0n, 'its epoch is 0')
    }),
    rule('4.1', 'numbers its requests from 1 up', () => expect(id >= 1n, 'the id is 0')),
    rule('4.1', 'names each call by a UUID version 7 of now', () => {
      const id = hexOf(requestId)
      expect(/^[\da-f]{12}7[\da-f]{3}[89ab][\da-f]{15}$/.test(id), `the request id is ${id}`)
      const ageMs = systemClock.now() - Number.parseInt(id.slice(0, 12), 16)
      expect(Math.abs(ageMs) < limits.REQUEST_ID_AHEAD_MS, 'the time of the request id is not now')
    }),
    rule('4.1', 'calls the API by its name and provider', () =>
      expect(request.text(3) === owner.api, `the API is ${request.text(3)}`)
    ),
    rule('4.1', 'gives method and path in their form', () => {
      expect(/^[A-Z]{1,32}$/.test(request.text(4)), `the method is ${request.text(4)}`)
      const path = request.text(5)
      expect(/^(?:[/?].*)?$/s.test(path) && path.length <= limits.PATH_BYTES_MAX, `the path is ${path}`)
    }),
    rule('4.1', 'gives the owner time', () => {
      const timeoutMs = request.integer(8)
      expect(timeoutMs >= 1n, 'timeout_ms is 0')
    }),
    rule('6', 'has a body of known length in its frame', () =>
      expect(request.bytes(7).length <= limits.INLINE_BODY_BYTES_MAX, 'the body in the frame is too long')
    ),
    rule('5.1', 'takes a response', () => expectTaken(call))
  ]
}

const noise: Scenario = (_, call) => [
  {
    section: '3.4',
    rule: 'ignores unknown frames and fields, responses of unknown ids, and a second hello of another network',
    async check() {
      call.session.sendNoise()
      await expectTaken(call)
    }
  }
]

const large: Scenario = (owner, call) => [
  {
    section: '6',
    rule: 'reads a response body from a bulk stream',
    async check() {
      call.session.respond(call, null)
      const chunk = Buffer.from(' '.repeat(limits.BULK_CHUNK_BYTES_MAX))
      const isRead = await owner.sendBody(call, [chunk, chunk, Buffer.from('{}')])
      expect(isRead, 'it reset the stream of the body')
      expect(await call.session.stays(), 'it reset the control stream')
    }
  }
]

/** Breaks the stream before the response. */
const broken: Scenario = (owner, call) => {
  let repeat: ReceivedCall | undefined
  const sent = (): ReceivedCall => {
    if (repeat === undefined) throw new DoesNotApply('the call was not sent again')
    return repeat
  }
  return [
    {
      section: '7.1',
      rule: 'sends a running call again after the stream broke, with the same request id',
      async check() {
        call.session.reset()
        repeat = await owner.repeats.next(limits.RESEND_MS)
        expect(repeat !== undefined && hexOf(repeat.requestId) === hexOf(call.requestId), 'it did not come again')
      }
    },
    {
      section: '7.1',
      rule: 'sets resent_from_epoch to the epoch of the first hello',
      check() {
        const epoch = sent().request.integer(14)
        expect(epoch === OWNER_EPOCH, `resent_from_epoch is ${epoch}`)
      }
    },
    {
      section: '7.2',
      rule: 'repeats the same request',
      check() {
        const differs = [3, 4, 5, 7].some(
          (field) => hexOf(sent().request.bytes(field)) !== hexOf(call.request.bytes(field))
        )
        expect(!differs, 'API, method, path or body differ')
      }
    },
    {
      section: '5.1',
      rule: 'takes the response to the repeat',
      check: () => expectTaken(sent())
    }
  ]
}

/** The last scenario: the owner gets no further call. */
const draining: Scenario = (owner, call) => [
  {
    section: '3.3',
    rule: 'takes the response to a running call after drain, and sends no new call',
    async check() {
      call.session.drain()
      call.session.respond(call)
      expect(await call.session.stays(), 'it reset the stream before the response')
      expect((await owner.calls.next(limits.CONFORMANCE_RESET_MS)) === undefined, 'it sent a new call')
    }
  }
]

const failing: Scenario = (_, call) => [
  {
    section: '5.2',
    rule: 'takes a failure with an unknown code',
    async check() {
      call.session.fail(call, 'souk_conformance_code')
      expect(await call.session.stays(), 'it reset the stream')
    }
  },
  {
    section: '3.4',
    rule: 'numbers the requests of a stream in ascending order',
    check: () => expect(!call.session.isUnordered, 'an id did not ascend')
  }
]

const elsewhere: Scenario = (owner, call) => [
  {
    section: '3.2',
    rule: 'resets a stream of another network, and sends no request on it',
    async check() {
      owner.sessions.clear()
      owner.calls.clear()
      const { network } = owner
      owner.network = 'souk-conformance-elsewhere'
      call.session.fail(call, 'overloaded')
      call.session.reset()
      try {
        const session = await owner.sessions.next(limits.CONFORMANCE_CALLS_MS)
        if (session === undefined) throw new DoesNotApply('no further stream came')
        expect(await session.ended(), 'it kept the stream')
        expect((await owner.calls.next(0)) === undefined, 'it sent a request')
      } finally {
        owner.network = network
      }
    }
  }
]

const SCENARIOS: readonly Scenario[] = [plain, noise, large, broken, failing, elsewhere, draining]

/** Plays an owner for a consumer, and says which rules of the specification hold. The consumer calls the API in a loop meanwhile. */
export async function judgeConsumer(init: JudgeConsumerInit): Promise<readonly Finding[]> {
  const { network, listen, onReady, timeoutMs = limits.CONFORMANCE_CALLS_MS } = init
  const owner = await startKitOwner(network, listen)
  const findings: Finding[] = []
  try {
    onReady({ address: owner.addresses[0] ?? '', api: owner.api })
    for (const scenario of SCENARIOS) {
      const call = await owner.calls.next(timeoutMs)
      if (call === undefined) {
        findings.push({ section: '-', rule: 'calls the API', result: 'skipped', detail: 'no further call came' })
        break
      }
      for (const rule of scenario(owner, call)) findings.push(await judged(rule, () => rule.check()))
    }
    return findings
  } finally {
    await owner.stop()
  }
}
