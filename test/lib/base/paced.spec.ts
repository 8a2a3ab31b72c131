import assert from 'node:assert/strict'
import { utf8 } from '../../../lib/base/bytes.ts'
import { paced } from '../../../lib/base/paced.ts'
import { manualClock } from '../../helpers/manual-clock.ts'

describe('paced', () => {
  it('serves as many requests of a peer as the rate allows, without delaying others', async () => {
    const clock = manualClock(0)
    const answer = paced(async (request, peer) => utf8(`${request.length} of ${peer}`), {
      rate: { burst: 2, perSecond: 4 },
      peersMax: 8,
      clock
    })
    const request = new Uint8Array(3)
    for (const expected of ['3 of a', '3 of a']) assert.deepEqual(await answer(request, 'a'), utf8(expected))
    await assert.rejects(answer(request, 'a'), { code: 'overloaded' })
    assert.deepEqual(await answer(request, 'b'), utf8('3 of b'))
    await clock.advance(250)
    assert.deepEqual(await answer(request, 'a'), utf8('3 of a'))
    await assert.rejects(answer(request, 'a'), { code: 'overloaded' })
  })
})
