import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { ApiView, CallHead, DoctorView, MappingCheckView, RegisteredView } from '../../node/admin/api.ts'
import { startAccount } from '../../node/demo/account.ts'
import type { DemoServer } from '../../node/demo/demo-server.ts'
import { type HomeNode, type SoukHome, soukHome, tellWhenFailed } from '../helpers/souk-home.ts'

type Called = CallHead & { readonly body: unknown }

/** Rewrites stored registrations as an earlier version wrote them, which accepted every pattern. */
function asFromBefore(path: string, pattern: string, older: string): void {
  using db = new DatabaseSync(path)
  const written = db.prepare("SELECT key, value FROM documents WHERE collection = 'registrations'").all()
  for (const { key, value } of written) {
    const registration = JSON.parse(String(value)) as { snapshot: string }
    const { snapshot } = registration
    const changed = {
      ...registration,
      snapshot: snapshot
        .replaceAll(pattern, older)
        .replace(/"planned":\d+,/, '')
        .replace(/"plan":\{"version":\d+/, '"plan":{"version":2')
    }
    db.prepare("UPDATE documents SET value = ? WHERE collection = 'registrations' AND key = ?").run(
      JSON.stringify(changed),
      key ?? null
    )
  }
}

/** A provider changes the names and rules of a WSDL by command line. */
describe('souk mapping', () => {
  let home: SoukHome
  let node: HomeNode
  let service: DemoServer
  const mapping = (revision: number, input: object) => ({
    version: 1,
    revision,
    operations: { getBalance: { input, output: { balance: { rename: 'amount' } } } }
  })
  const file = async (content: unknown) => {
    const path = join(home.directory, 'mapping.json')
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content))
    return path
  }
  const register = () =>
    node.cli<RegisteredView>(`api register --name account --protocol SOAP --price 0 --endpoint ${service.url}`)
  const call = (body: object) => node.cli<Called>('call account', JSON.stringify(body))

  before(async () => {
    home = await soukHome()
    service = await startAccount()
    node = await home.up('provider')
    await register()
  })
  tellWhenFailed(() => home)
  after(async () => {
    await home.close()
    await service.close()
  })

  it('reports invalid rules and changes nothing', async () => {
    const wrong = await file(mapping(1, { acount: { rename: 'account' } }))
    const { code, stdout } = await home.run(`--profile provider --json mapping check account ${wrong}`)
    assert.notEqual(code, 0)
    const { problems } = JSON.parse(stdout) as MappingCheckView
    assert.match(problems[0]?.at ?? '', /^\/operations\/getBalance\/input\/acount/)
    const refused = await home.run(`--profile provider mapping set account ${wrong}`)
    assert.notEqual(refused.code, 0)
    assert.match(refused.stderr, /The mapping is invalid/)
    assert.deepEqual(await node.cli('mapping get account'), { version: 1, revision: 1, operations: {} })
  })

  it('renames and validates fields of calls', async () => {
    const right = await file(mapping(1, { accountId: { rename: 'account', pattern: 'ACC-[0-9]+' } }))
    const { problems } = await node.cli<MappingCheckView>('mapping check account', right)
    assert.deepEqual(problems, [])
    await node.cli('mapping set account', right)
    const again = await home.run(`--profile provider --json mapping check account ${right}`)
    assert.deepEqual((JSON.parse(again.stdout) as MappingCheckView).problems, [
      { at: '/revision', problem: 'The stored mapping has revision 1. Use a higher one.' }
    ])
    const { body } = await call({ operation: 'getBalance', account: 'ACC-1001' })
    assert.equal(typeof (body as { amount?: unknown }).amount, 'number')
    const refused = await home.run('--profile provider call account', ['{"operation":"getBalance","account":"x"}'])
    assert.match(refused.stderr, /account/)
    assert.notEqual(refused.code, 0)
  })

  it('keeps the mapping when the API is registered again, and deletes it with rm', async () => {
    const { updated } = await register()
    assert.equal(updated, true)
    assert.equal((await call({ operation: 'getBalance', account: 'ACC-1001' })).status, 200)
    await node.cli('mapping rm account')
    assert.equal((await call({ operation: 'getBalance', accountId: 'ACC-1001' })).status, 200)
    assert.deepEqual(await node.cli('mapping get account'), { version: 1, revision: 2, operations: {} })
  })

  it('serves a mapping of an earlier version without its unsupported pattern, with a warning', async () => {
    const rule = { rename: 'account', pattern: 'ACC-[0-9]+', maxLength: 8 }
    await node.cli('mapping set account', await file(mapping(3, { accountId: rule })))
    await node.end()
    asFromBefore(join(home.directory, 'provider', 'souk.db'), 'ACC-[0-9]+', '(?=ACC).+')
    node = await home.up('provider')
    const told = /pattern "\(\?=ACC\)\.\+" looks around/
    assert.ok(node.stderr.some((line) => line.startsWith('account is served, with a warning: ') && told.test(line)))
    const { warnings, problem } = await node.cli<ApiView>('api show account')
    assert.equal(problem, null)
    assert.match(warnings.join(), told)
    const { checks } = await node.cli<DoctorView>('doctor')
    const { result, message } = checks.find(({ name }) => name === 'listing account') ?? assert.fail('no such check')
    assert.equal(result, 'warn')
    assert.match(message, told)
    assert.equal((await call({ operation: 'getBalance', account: 'ACC-1001' })).status, 200)
    const tooLong = await home.run('--profile provider call account', [
      '{"operation":"getBalance","account":"ACC-10010"}'
    ])
    assert.match(tooLong.stderr, /at most 8 characters/)
    assert.match((await register()).warnings.join(), told, 'a new registration of the same API dropped the mapping')
    const kept = await node.cli<{ operations: object }>('mapping get account')
    const changed = await home.run('--profile provider mapping set account', [await file({ ...kept, revision: 4 })])
    assert.notEqual(changed.code, 0)
    assert.match(changed.stderr, told)
    await node.cli('mapping set account', await file(mapping(4, { accountId: rule })))
    assert.deepEqual((await node.cli<ApiView>('api show account')).warnings, [])
  })

  it('rejects REST APIs and files that are not JSON', async () => {
    await node.cli(`api register --name plain --protocol REST --price 0 --endpoint ${new URL(service.url).origin}/`)
    const other = await home.run('--profile provider mapping get plain')
    assert.match(other.stderr, /REST API/)
    const broken = await home.run(`--profile provider mapping set account ${await file('{')}`)
    assert.match(broken.stderr, /is not JSON/)
    const schema = await node.cli<{ properties: object }>('mapping get account --schema')
    assert.ok('operations' in schema.properties)
  })
})
