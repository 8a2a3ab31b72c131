import { limits } from '../../lib/index.ts'
import { KIND } from './call-stream.ts'
import { type Check, expect, expectFailure, noSuchApi } from './check.ts'
import { encodeFields } from './message.ts'

const ELSEWHERE = 'souk-conformance-elsewhere'

/** Sections 1 and 3: the connection, the control stream, its hellos and its frames. */
export const STREAM_CHECKS: readonly Check[] = [
  {
    section: '1',
    rule: 'responds to a ping of yamux',
    isSlow: true,
    run: ({ peer }) => peer.ping()
  },
  {
    section: '3.1',
    rule: 'resets a stream with a frame that is too long',
    async run({ peer }) {
      const call = await peer.ready()
      call.stream.sendRaw(Uint8Array.of(0xff, 0xff, 0xff, 0x7f))
      await call.stream.ended(limits.CONFORMANCE_RESET_MS)
    }
  },
  {
    section: '3.2',
    rule: 'sends its hello first, without waiting for ours',
    async run({ peer }) {
      const { network, epoch } = await peer.openCall()
      expect(network !== '', 'its network has no name')
      expect(epoch > 0n, 'its epoch is 0')
    }
  },
  {
    section: '3.2',
    rule: 'resets a stream whose first frame is no hello',
    async run(context) {
      const call = await context.peer.openCall()
      call.request({ id: 1, api: noSuchApi(context) })
      await call.stream.ended(limits.CONFORMANCE_RESET_MS)
    }
  },
  {
    section: '3.2',
    rule: 'resets a stream of another network',
    async run({ peer }) {
      const call = await peer.openCall()
      call.sayHello(ELSEWHERE)
      await call.stream.ended(limits.CONFORMANCE_RESET_MS)
    }
  },
  {
    section: '3.2',
    rule: 'resets a stream without a hello',
    isSlow: true,
    async run({ peer }) {
      const { stream } = await peer.openCall()
      await stream.ended(2 * limits.HELLO_MS)
    }
  },
  {
    section: '3.2',
    rule: 'ignores a second hello, also of another network',
    async run(context) {
      const call = await context.peer.ready()
      call.sayHello(ELSEWHERE)
      call.request({ id: 1, api: noSuchApi(context) })
      expectFailure(await call.answer(), 'api_not_found')
    }
  },
  {
    section: '3.4',
    rule: 'ignores frames of unknown kinds, empty frames and unknown fields',
    async run(context) {
      const call = await context.peer.ready()
      call.stream.send(encodeFields([[100, 'unknown']]))
      call.stream.send(new Uint8Array(0))
      call.send(KIND.ack, [[99, 7]])
      call.request({ id: 1, api: noSuchApi(context) })
      expectFailure(await call.answer(), 'api_not_found')
    }
  },
  {
    section: '3.4',
    rule: 'ignores a cancel, a response and a failure of unknown ids',
    async run(context) {
      const call = await context.peer.ready()
      call.send(KIND.cancel, [[1, 77]])
      call.send(KIND.response, [
        [1, 77],
        [2, 200],
        [4, new Uint8Array(0)]
      ])
      call.send(KIND.failure, [
        [1, 77],
        [2, 'internal_error']
      ])
      call.request({ id: 1, api: noSuchApi(context) })
      expectFailure(await call.answer(), 'api_not_found')
    }
  },
  {
    section: '3.4',
    rule: 'resets a stream with bytes that are no message',
    async run({ peer }) {
      const call = await peer.ready()
      call.stream.send(Uint8Array.of(0x12, 0xff))
      await call.stream.ended(limits.CONFORMANCE_RESET_MS)
    }
  },
  ...[
    { ids: [0], what: 'the id 0' },
    { ids: [1, 1], what: 'an id that was used before' },
    { ids: [5, 4], what: 'ids that descend' }
  ].map(
    ({ ids, what }): Check => ({
      section: '3.4',
      rule: `resets a stream with ${what}`,
      async run(context) {
        const call = await context.peer.ready()
        for (const id of ids) {
          call.request({ id, api: noSuchApi(context) })
          if (id !== ids.at(-1)) await call.answer()
        }
        await call.stream.ended(limits.CONFORMANCE_RESET_MS)
      }
    })
  )
]
