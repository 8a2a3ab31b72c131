import assert from 'node:assert/strict'
import { limits, systemClock, utf8 } from '../../../../lib/index.ts'
import { watchBody } from '../../../../lib/base/watch-body.ts'
import { manifestOf } from '../../../lib/resolve/fixtures.ts'
import { answer, PROVIDER, type Running, startIngress } from '../harness.ts'

const SILENT_MS = 200

describe('ingress: a batch with a result that never ends', () => {
  let ingress: Running
  before(async () => {
    let lateMs = 0
    const after: typeof systemClock.after = (ms, task) => {
      if (ms !== limits.STREAM_IDLE_MS) return systemClock.after(ms, task)
      return systemClock.after(SILENT_MS, () => {
        lateMs += limits.STREAM_IDLE_MS
        task()
      })
    }
    const elapsed = () => systemClock.elapsed() + lateMs
    ingress = await startIngress({}, { ...systemClock, after, elapsed })
    const manifest = manifestOf(PROVIDER, { name: 'counts', protocol: 'GraphQL' })
    const signed = { id: `counts@${PROVIDER}`, envelope: new Uint8Array(0), manifest } as const
    ingress.onResolve = async () => ({ signed, owners: [] })
  })
  after(() => ingress.close())

  it('gets an error in its place', async () => {
    let isCancelled = false
    async function* silent() {
      yield utf8('{"data":')
      await new Promise(() => {})
    }
    ingress.onCall = ({ body }) => {
      const isSilent = Buffer.from(body as Uint8Array).includes('slow')
      return answer({ body: isSilent ? watchBody(silent(), () => (isCancelled = true)) : utf8('{"data":{}}') })
    }
    const response = await ingress.post('/api/demo/api/counts', [{ query: '{ slow }' }, { query: '{ fast }' }])
    const [slow, fast] = (await response.json()) as Array<{ errors?: Array<{ extensions: { code: string } }> }>
    assert.deepEqual(
      slow?.errors?.map(({ extensions }) => extensions.code),
      ['upstream_timeout']
    )
    assert.deepEqual(fast, { data: {} })
    assert.equal(isCancelled, true)
  })
})
