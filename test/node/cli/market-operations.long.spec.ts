import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startUpstream, type Upstream } from '../../helpers/echo-api.ts'
import { eventually } from '../../helpers/eventually.ts'
import { type HomeNode, type SoukHome, soukHome, tellWhenFailed } from '../../helpers/souk-home.ts'

const OPERATIONS = 300

/** Too large for a manifest, so another node reads its pages. */
function document(): string {
  const paths = Array.from({ length: OPERATIONS }, (_, at): [string, object] => [
    `/things${at}`,
    {
      post: {
        operationId: at === 250 ? 'PostInvoices' : `GetThing${at}`,
        summary: at === 250 ? 'Create an invoice' : `Returns thing ${at} ${'of the shop '.repeat(6)}`,
        requestBody: {
          content: { 'application/json': { schema: { type: 'object', properties: { customer: { type: 'string' } } } } }
        },
        responses: { 200: { description: 'ok' } }
      }
    }
  ])
  return JSON.stringify({ openapi: '3.0.3', info: { title: 'Shop', version: '1' }, paths: Object.fromEntries(paths) })
}

describe('souk with an API of many operations at another node', () => {
  let home: SoukHome
  let upstream: Upstream
  let consumer: HomeNode

  const run = (...args: string[]) => home.run('--profile consumer', args)

  before(async () => {
    home = await soukHome()
    upstream = await startUpstream()
    const owner = await home.up('default', '--no-ingress')
    consumer = await home.up('consumer', '--bootstrap', ...owner.p2p)
    const path = join(home.directory, 'shop.json')
    await writeFile(path, document())
    const { code, stderr } = await home.run('--profile default', [
      ...'api register --name shop --protocol rest --price 0.001'.split(' '),
      '--endpoint',
      upstream.url,
      '--openapi',
      path
    ])
    assert.equal(code, 0, stderr)
  })
  tellWhenFailed(() => home)
  after(async () => {
    await home?.close()
    await upstream?.close()
  })

  it('finds an operation by words', async () => {
    const stdout = await eventually('the other node knows the operations', 20_000, async () => {
      const found = await run('market', 'search', 'create', 'invoice')
      return found.stdout.includes('PostInvoices') ? found.stdout : undefined
    })
    assert.match(stdout, /MATCHING OPERATION +SUMMARY\n\S+ +PostInvoices +Create an invoice/)
    const response = await fetch(`${consumer.ingress}/v1/apis?q=create+invoice`)
    const { data } = (await response.json()) as { data: Array<{ matching_operations: unknown[] }> }
    assert.deepEqual(data[0]?.matching_operations, [{ name: 'PostInvoices', summary: 'Create an invoice' }])
  })

  it('shows one operation with its schema', async () => {
    const { code, stdout, stderr } = await run('market', 'show', 'shop', 'PostInvoices')
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^operation +PostInvoices\n\nCreate an invoice\n\ninput:\n\{/)
    assert.match(stdout, /"customer"/)
    const json = JSON.parse((await run('market', 'show', 'shop', 'PostInvoices', '--json')).stdout) as object
    assert.deepEqual(Object.keys(json).slice(0, 2), ['name', 'description'])
  })

  it('lists all operations, and names an operation that does not exist', async () => {
    const { stdout } = await run('market', 'show', 'shop', '--operations')
    assert.equal(stdout.trimEnd().split('\n').length, OPERATIONS + 1)
    const missing = await run('market', 'show', 'shop', 'PostInvoice')
    assert.notEqual(missing.code, 0)
    assert.match(missing.stderr, /shop has no operation "PostInvoice"/)
  })
})
