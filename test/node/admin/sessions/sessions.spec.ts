import assert from 'node:assert/strict'
import { createMemoryStore, systemRandom } from '../../../../lib/index.ts'
import { CONSOLE_SESSION_MS, SETUP_CODE_MS, SETUP_CODE_TRIES_MAX } from '../../../../lib/base/limits/admin.ts'
import { Sessions } from '../../../../node/admin/sessions/sessions.ts'
import { manualClock } from '../../../helpers/manual-clock.ts'

describe('console sessions', () => {
  const refused = { code: 'admin_token_invalid' }

  async function bench() {
    const store = createMemoryStore()
    await store.open()
    const clock = manualClock()
    return {
      clock,
      store,
      sessions: new Sessions({ profile: 'shop', documents: store.documents, clock, random: systemRandom })
    }
  }

  it('are opened by a code, once, in any case and with any separators', async () => {
    const { sessions } = await bench()
    const { code } = sessions.newCode()
    assert.match(code, /^[\dA-HJKMNP-TV-Z]{4}-[\dA-HJKMNP-TV-Z]{4}$/)
    const token = await sessions.open(` ${code.toLowerCase().replace('-', ' ')} `)
    assert.equal(await sessions.isOpen(token), true)
    assert.equal(await sessions.isOpen(`${token}x`), false)
    await assert.rejects(sessions.open(code), refused)
  })

  it('are not opened by an expired or replaced code', async () => {
    const { sessions, clock } = await bench()
    const first = sessions.newCode().code
    const second = sessions.newCode().code
    await assert.rejects(sessions.open(first), {
      message: /^The setup code is wrong\. .*: souk --profile shop console$/
    })
    await clock.advance(SETUP_CODE_MS)
    await assert.rejects(sessions.open(second), { message: /^There is no valid .*: souk --profile shop console$/ })
  })

  it('are not opened by guessing: some wrong guesses invalidate the code', async () => {
    const { sessions } = await bench()
    const { code } = sessions.newCode()
    for (let guess = 0; guess < SETUP_CODE_TRIES_MAX; guess++) await assert.rejects(sessions.open('0000-0000'), refused)
    await assert.rejects(sessions.open(code), refused)
  })

  it('survive a restart, and end when closed or expired', async () => {
    const { sessions, store, clock } = await bench()
    const [one, other] = [await sessions.open(sessions.newCode().code), await sessions.open(sessions.newCode().code)]
    const again = new Sessions({ profile: 'shop', documents: store.documents, clock, random: systemRandom })
    assert.deepEqual([await again.isOpen(one), await again.isOpen(other), await again.hasAny()], [true, true, true])
    await again.close(one)
    assert.deepEqual([await again.isOpen(one), await again.isOpen(other)], [false, true])
    await clock.advance(CONSOLE_SESSION_MS)
    assert.deepEqual([await again.isOpen(other), await again.hasAny()], [false, false])
  })

  it('store no data that opens a session', async () => {
    const { sessions, store } = await bench()
    const { code } = sessions.newCode()
    const token = await sessions.open(code)
    const kept = JSON.stringify(await store.documents.list('console-sessions'))
    assert.equal(kept.includes(token) || kept.includes(code), false)
  })
})
