import assert from 'node:assert/strict'
import type { ConnectionManager, TransportManager } from '@libp2p/interface-internal'
import { defaultLogger } from '@libp2p/logger'
import { DIAL_BACK_BYTES_MAX, REVERSAL_RETRY_FIRST_MS, REVERSALS_ASKED_MAX } from '../../../../lib/base/limits/reach.ts'
import type { Channel } from '../../../../lib/interface/link.ts'
import { createMemoryNetwork } from '../../../../lib/link/memory-link.ts'
import { DIAL_BACK_PROTOCOL, DialBack } from '../../../../lib/link/reach/dial-back.ts'
import { DIAL_BACK_RESPONSE } from '../../../../lib/link/reach/dial-back-codec.ts'
import { Reversals } from '../../../../lib/link/reach/reversals.ts'
import { type ManualClock, manualClock } from '../../../helpers/manual-clock.ts'

const ADDRESS = '/ip4/11.1.1.7/tcp/4402'
const OWNER = { id: 'owner', addresses: [] }

describe('a consumer on a relayed channel', () => {
  let clock: ManualClock
  let asked: number
  let channel: Channel
  let used: Channel
  let state: 'direct' | 'none'
  let reversals: Reversals
  /** How the owner responds from now on. */
  let fate: 'lost' | 'not reached' | 'reached'

  beforeEach(async () => {
    clock = manualClock()
    asked = 0
    state = 'direct'
    fate = 'lost'
    const network = createMemoryNetwork({ clock })
    const [owner, link] = [network.link(OWNER.id), network.link('consumer')]
    const serve = async () => {
      asked++
      if (fate === 'lost') throw new Error('the connection closed')
      return DIAL_BACK_RESPONSE.encode({ dialled: [ADDRESS], reached: fate === 'reached' ? [ADDRESS] : [] })
    }
    owner.serve(DIAL_BACK_PROTOCOL, serve, { requestBytesMax: DIAL_BACK_BYTES_MAX })
    await owner.start()
    await link.start()
    channel = await link.connect(OWNER, new AbortController().signal)
    used = channel
    const log = defaultLogger().forComponent('test')
    const [connectionManager, transportManager] = [{} as ConnectionManager, {} as TransportManager]
    const common = { link, connectionManager, transportManager, network: 'test', privateAddresses: false, clock, log }
    const dialBack = new DialBack(common)
    const status = () => ({ state, addresses: [ADDRESS] })
    reversals = new Reversals({ dialBack, link: { uses: (each) => each === used }, status, clock, log })
  })
  afterEach(async () => {
    used = {} as Channel
    await clock.advance(2 ** REVERSALS_ASKED_MAX * REVERSAL_RETRY_FIRST_MS)
    assert.equal(clock.pending, 0)
  })

  for (const failure of ['lost', 'not reached'] as const) {
    it(`asks again when the request was ${failure}, until calls use another channel`, async () => {
      fate = failure
      const result = reversals.start(channel)
      await clock.advance(0)
      assert.equal(asked, 1)
      await clock.advance(REVERSAL_RETRY_FIRST_MS - 1)
      assert.equal(asked, 1)
      fate = 'reached'
      await clock.advance(1)
      assert.equal(asked, 2)
      used = {} as Channel
      await clock.advance(2 * REVERSAL_RETRY_FIRST_MS)
      await result
      assert.equal(asked, 2)
    })
  }

  it('asks a limited number of times, at growing intervals', async () => {
    const result = reversals.start(channel)
    const times: number[] = []
    for (let atMs = 0; atMs < 2 ** REVERSALS_ASKED_MAX * REVERSAL_RETRY_FIRST_MS; atMs += REVERSAL_RETRY_FIRST_MS) {
      const before = asked
      await clock.advance(atMs === 0 ? 0 : REVERSAL_RETRY_FIRST_MS)
      if (asked > before) times.push(atMs / REVERSAL_RETRY_FIRST_MS)
    }
    await result
    assert.deepEqual(times, [0, 1, 3, 7, 15])
  })

  it('asks when it learns later that peers can dial it', async () => {
    state = 'none'
    void reversals.start(channel)
    await clock.advance(0)
    assert.equal(asked, 0)
    state = 'direct'
    await clock.advance(REVERSAL_RETRY_FIRST_MS)
    assert.equal(asked, 1)
  })
})
