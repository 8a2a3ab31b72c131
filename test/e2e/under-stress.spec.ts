import assert from 'node:assert/strict'
import type { Problem } from '../../lib/index.ts'
import type { ApiView } from '../../node/admin/api.ts'
import type { IssuedKeyView } from '../../node/admin/accounts/key-api.ts'
import { eventually } from '../helpers/eventually.ts'
import { type Answered, post, type PostInit } from '../helpers/ingress-client.ts'
import { type JudgeApi, judgeApi } from '../helpers/judge-api.ts'
import { hanging, type ScriptedUpstream, scriptedUpstream } from '../helpers/scripted-upstream.ts'
import { type NodeProcess, type SoukHome, soukHome, tellWhenFailed } from '../helpers/souk-home.ts'

const SLOW_MS = 600
/** Allowed delay of a response on two busy cores. */
const MARGIN_MS = 10_000
/** The limits of `patient`, far enough apart that a busy machine does not blur them. */
const LISTING_MS = 60_000
const CONSUMER_MS = 1_000

describe('two nodes under stress', () => {
  let home: SoukHome
  let owner: NodeProcess
  let consumer: NodeProcess
  let api: JudgeApi
  let slow: ScriptedUpstream
  let key: string

  before(async () => {
    home = await soukHome()
    api = await judgeApi('judge')
    slow = await scriptedUpstream((response) => response.writeHead(200).end())
    const gone = await judgeApi('gone')
    owner = await home.asProcess.up('owner', '--no-ingress')
    consumer = await home.asProcess.up('consumer', '--bootstrap', ...owner.p2p)
    const register = (name: string, url: string, ...more: string[]) =>
      owner.cli(`api register --name ${name} --protocol REST --price 0.01 --endpoint ${url}`, ...more)
    await register('works', api.url)
    await register('slow', slow.url, '--timeout-ms', String(SLOW_MS))
    await register('patient', slow.url, '--timeout-ms', String(LISTING_MS))
    await register('gone', gone.url)
    await gone.close()
    ;({ key } = await consumer.cli<IssuedKeyView>('key issue'))
    // The first call of an API includes a lookup.
    for (const name of ['works', 'patient', 'gone']) await call(name)
    slow.behave(hanging)
  })
  tellWhenFailed(() => home)
  after(async () => {
    await home.close()
    await Promise.all([api.close(), slow.close()])
  })

  const call = (name: string, init: PostInit = {}) => post(consumer.ingress, name, { key, body: { id: name }, ...init })

  it('aborts a call of an API that exceeds its listing’s time limit', async () => {
    const answered = await call('slow')
    assert.deepEqual(codeOf(answered), [504, 'upstream_timeout'])
    assert.ok(answered.ms >= SLOW_MS && answered.ms < SLOW_MS + MARGIN_MS, `${answered.ms} ms`)
    await eventually('the API to be let go', MARGIN_MS, () => (slow.received.at(-1)?.gone === true ? true : undefined))
  })

  it('uses a shorter time limit of the consumer', async () => {
    const answered = await call('patient', { headers: { 'souk-timeout-ms': String(CONSUMER_MS) } })
    assert.deepEqual(codeOf(answered), [504, 'upstream_timeout'])
    assert.ok(answered.ms < CONSUMER_MS + MARGIN_MS, `${answered.ms} ms`)
  })

  it('reports that the API of a listing is unreachable', async () => {
    const answered = await call('gone')
    assert.deepEqual(codeOf(answered), [502, 'upstream_unreachable'])
    assert.ok(answered.ms < MARGIN_MS, `${answered.ms} ms`)
  })

  it('serves two hundred concurrent calls, each with its own response', async () => {
    const names = ['works', 'slow', 'gone', 'no-such-api']
    const answers = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const name = names[index % names.length] ?? ''
        const answered = await eventually('the node not to be overloaded', MARGIN_MS, async () => {
          const tried = await call(name, { body: { id: `call-${index}` } })
          return codeOf(tried)[1] === 'overloaded' ? undefined : tried
        })
        return { name, index, answered }
      })
    )
    const [timeout, unreachable, unknown] = ['504 upstream_timeout', '502 upstream_unreachable', '404 api_not_found']
    // An owner refuses at once while an API failed many times in a row.
    const expected: Readonly<Record<string, readonly unknown[]>> = {
      slow: [timeout, unreachable],
      gone: [unreachable],
      'no-such-api': [unknown]
    }
    for (const { name, index, answered } of answers) {
      if (name === 'works') assert.deepEqual(answered.json, { id: `call-${index}`, by: 'judge' })
      else assert.ok(expected[name]?.includes(codeOf(answered).join(' ')), answered.text)
    }
    assert.equal(new Set(answers.map(({ answered }) => answered.headers.get('x-request-id'))).size, 200)
  })

  it('charges nothing for failed calls', async () => {
    for (const name of ['slow', 'gone']) {
      const { calls, metered, in_flight } = await owner.cli<ApiView>(`api show ${name}`)
      assert.deepEqual([calls.captured, metered, in_flight], [0, '0', 0], name)
      assert.ok(calls.voided > 50)
    }
  })

  it('completes running calls when the owner stops', async () => {
    api.hold()
    const ids = Array.from({ length: 20 }, (_, index) => `last-${index}`)
    const calls = ids.map((id) => call('works', { body: { id } }))
    await eventually('all calls to be held', MARGIN_MS, () => (api.held === ids.length ? true : undefined))
    const ended = owner.end('SIGTERM')
    await eventually('the owner to stop taking calls', MARGIN_MS, () =>
      owner.stderr.some((line) => line.startsWith('Stopping')) ? true : undefined
    )
    // The owner stops its parts one after the other, so it can still accept the first of these calls.
    const late: Array<Promise<Answered>> = []
    const refused = await eventually('the owner to refuse calls', MARGIN_MS, () => {
      late.push(call('works', { body: { id: `late-${late.length}` } }))
      return Promise.race([late.at(-1), new Promise<undefined>((resolve) => setTimeout(resolve, 100))])
    })
    assert.equal(refused.status, 503, refused.text)
    api.release()
    const answers = await Promise.all(calls)
    assert.deepEqual(
      answers.map(({ text }) => text),
      ids.map((id) => JSON.stringify({ id, by: 'judge' }))
    )
    const { code, signal } = await ended
    assert.deepEqual([code, signal], [0, null], owner.stderr.join('\n'))
    for (const [index, { status, text }] of (await Promise.all(late)).entries()) {
      assert.equal(status, api.reached.includes(`late-${index}`) ? 200 : 503, text)
    }
  })

  it('reports that no owner serves the API any more', async () => {
    const answered = await call('works')
    assert.deepEqual(codeOf(answered), [503, 'owner_unreachable'])
    assert.ok(answered.ms < 3 * MARGIN_MS, `${answered.ms} ms`)
  })

  it('stops an idle consumer at once', async () => {
    const { code, ms } = await consumer.end('SIGTERM')
    assert.equal(code, 0, consumer.stderr.join('\n'))
    assert.ok(ms < MARGIN_MS, `${ms} ms`)
  })
})

function codeOf({ status, json }: Answered): [number, string] {
  return [status, (json as Problem).code]
}
