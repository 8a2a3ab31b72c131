import assert from 'node:assert/strict'
import { assertTurnsBelow } from '../../../helpers/busy-turn.ts'
import { SoukError } from '../../../../lib/base/errors.ts'
import { OPENAPI_FRESH_MS } from '../../../../lib/base/limits/rest.ts'
import { FollowedOpenapi } from '../../../../protocols/rest/openapi/followed-openapi.ts'
import { OpenapiCalls } from '../../../../protocols/rest/openapi/openapi-call.ts'
import { importOpenapi } from '../../../../protocols/rest/openapi/openapi-import.ts'
import { descriptionWorker } from '../../../../protocols/description-worker/description-worker.ts'
import { readSnapshot } from '../../../../protocols/rest/snapshot.ts'
import { manualClock } from '../../../helpers/manual-clock.ts'

const NEVER = new AbortController().signal
const endpoint = 'http://127.0.0.1/'
const documentOf = (...operations: string[]) => ({
  openapi: '3.1.0',
  info: { title: 'a', version: '1' },
  paths: Object.fromEntries(
    operations.map((operationId) => [
      `/${operationId}`,
      { get: { operationId, responses: { 200: { description: '' } } } }
    ])
  )
})
const snapshotOf = (...operations: string[]) =>
  importOpenapi({ text: JSON.stringify(documentOf(...operations)), endpoint }).snapshot

describe('an OpenAPI document with an address', () => {
  it('is read again before it rejects a call, at most once in a while, and reports changes', async () => {
    const clock = manualClock()
    const snapshot = snapshotOf('one')
    let now = snapshotOf('one', 'two')
    let reads = 0
    const read = async () => {
      reads++
      return now
    }
    const news: string[] = []
    const followed = new FollowedOpenapi({ snapshot, clock, read }, new OpenapiCalls(readSnapshot(snapshot)!.api))
    followed.onChange = (fresh) => news.push(fresh)
    const two = () => followed.map({ operation: 'two' }, NEVER)
    await assert.rejects(two(), { code: 'operation_not_found' })
    assert.equal(reads, 0, 'it was imported just now')
    await clock.advance(OPENAPI_FRESH_MS)
    assert.deepEqual(
      (await Promise.all([two(), two()])).map((mapped) => mapped?.path),
      ['/two', '/two']
    )
    assert.deepEqual([reads, news], [1, [now]])
    await clock.advance(OPENAPI_FRESH_MS)
    await assert.rejects(followed.map({ operation: 'three' }, NEVER), { code: 'operation_not_found' })
    await assert.rejects(followed.map({ operation: 'three' }, NEVER), { code: 'operation_not_found' })
    assert.deepEqual([reads, news.length], [2, 1])
    now = 'broken'
    assert.equal(await followed.refresh(), false)
    assert.equal((await two())?.path, '/two')
  })
})

describe('an OpenAPI document of several megabytes', () => {
  it('is checked while calls continue', async () => {
    const operations = Array.from({ length: 1_900 }, (_, n) => `operation-${n}-${'x'.repeat(1_100)}`)
    const text = JSON.stringify(documentOf(...operations))
    assert.ok(text.length > 4_000_000)
    await assertTurnsBelow(200, async () => {
      let turns = 0
      const timer = setInterval(() => turns++, 1)
      const { snapshot, description } = await descriptionWorker
        .run('importOpenapi', { text, endpoint }, NEVER)
        .finally(() => clearInterval(timer))
      assert.ok(turns > 20, `${turns} turns of the loop`)
      assert.ok(snapshot.length > 1_000_000)
      assert.equal(description.operations.length, 1_900)
    })
  })

  it('is rejected with its problem, and aborted with its registration', async () => {
    const padding = 'x'.repeat(200_000)
    const wrong = JSON.stringify({ openapi: '3.1.0', info: { title: padding, version: '1' }, paths: { x: 1 } })
    await assert.rejects(descriptionWorker.run('importOpenapi', { text: wrong, endpoint }, NEVER), (error: unknown) => {
      assert.ok(error instanceof SoukError)
      assert.equal(error.code, 'invalid_request')
      return /no operation to call/.test(error.message)
    })
    const giveUp = new AbortController()
    const importing = descriptionWorker.run('importOpenapi', { text: wrong, endpoint }, giveUp.signal)
    giveUp.abort(new SoukError('upstream_timeout'))
    await assert.rejects(importing, { code: 'upstream_timeout' })
  })
})
