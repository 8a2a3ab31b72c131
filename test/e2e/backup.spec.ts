import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, readdir, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ApiView } from '../../node/admin/api.ts'
import type { IssuedKeyView } from '../../node/admin/accounts/key-api.ts'
import type { ProfileBackup } from '../../node/profile/profile-backup.ts'
import { post } from '../helpers/ingress-client.ts'
import type { CommandRun } from '../helpers/souk-process.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../helpers/scripted-upstream.ts'
import { type HomeNode, type NodeProcess, type SoukHome, soukHome, tellWhenFailed } from '../helpers/souk-home.ts'

describe('a backup', () => {
  let home: SoukHome
  let node: NodeProcess
  let api: ScriptedUpstream
  let key: string
  let backup: string

  before(async () => {
    home = await soukHome()
    api = await scriptedUpstream((response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}')
    )
    node = await home.asProcess.up('shop')
    await node.cli(`api register --name shop --protocol REST --endpoint ${api.url}/ --price 0.001`)
    ;({ key } = await node.cli<IssuedKeyView>('key issue --label customer'))
    backup = join(home.directory, 'kept')
  })
  tellWhenFailed(() => home)
  after(async () => {
    await home.close()
    await api.close()
  })

  const call = (at: HomeNode | NodeProcess) =>
    post(at.ingress, 'shop', { key, body: { n: randomBytes(4).toString('hex') } })
  const failed = ({ code, stderr }: CommandRun, exit: number, what: RegExp) => {
    assert.equal(code, exit, stderr)
    assert.match(stderr, what)
  }

  it('can be made while the node serves calls', async () => {
    for (let each = 0; each < 5; each++) assert.equal((await call(node)).status, 200)
    const calls = Promise.all(Array.from({ length: 20 }, () => call(node)))
    const made = await node.cli<ProfileBackup>(`backup ${backup}`)
    for (const { status } of await calls) assert.equal(status, 200)
    assert.deepEqual(made.files, ['souk.db', 'profile.json', 'pepper', 'upstream.key', 'identity.key'])
    assert.equal((await stat(backup)).mode & 0o777, 0o700)
    for (const file of await readdir(backup)) {
      assert.equal((await stat(join(backup, file))).mode & 0o777, 0o600, file)
    }
  })

  it('overwrites nothing', async () => {
    failed(await home.run(`--profile shop backup ${backup}`), 1, /kept is there already/)
    failed(
      await home.run(`--profile shop backup ${join(home.directory, 'no', 'such')}`),
      1,
      /cannot be made \(ENOENT\): the directory that contains it must exist/
    )
    failed(await home.run(`--profile shop restore ${backup}`), 1, /profile "shop" exists already/)
    // It has a wallet, and nothing else yet.
    await home.run('--profile fresh init --network dev --role buy --no-input')
    const wallet = join(home.directory, 'fresh', 'wallet.json')
    const before = await readFile(wallet, 'utf8')
    failed(await home.run(`--profile fresh restore ${backup}`), 1, /profile "fresh" exists already/)
    assert.equal(await readFile(wallet, 'utf8'), before)
  })

  it('restores the same node elsewhere, with its identity, APIs, keys and books', async () => {
    await node.end('SIGKILL')
    const { code, stderr } = await home.run(`--profile again restore ${backup}`)
    assert.equal(code, 0, stderr)
    assert.match(stderr, /Never run it while/)
    assert.match(stderr, /Try: souk --profile again up, then souk --profile again doctor/)
    const again = await home.up('again')
    assert.equal(again.peer, node.peer)
    assert.equal((await call(again)).status, 200)
    const { calls } = await again.cli<ApiView>('api show shop')
    // All earlier calls are in the backup, and some of the concurrent calls.
    assert.ok(calls.captured >= 6 && calls.captured <= 26, `${calls.captured} calls`)
    await again.end()
  })

  it('can also be made of a stopped node', async () => {
    const stopped = join(home.directory, 'stopped')
    const { code, stderr } = await home.run(`--profile again backup ${stopped}`)
    assert.equal(code, 0, stderr)
    assert.ok(existsSync(join(stopped, 'souk.db')))
    failed(await home.run(`--profile nobody backup ${join(home.directory, 'x')}`), 78, /There is no profile "nobody"/)
    assert.equal(existsSync(join(home.directory, 'nobody')), false)
  })

  it('is rejected if invalid or damaged, and leaves no partial profile', async () => {
    const empty = join(home.directory, 'empty')
    await mkdir(empty)
    failed(
      await home.run(`--profile other restore ${empty}`),
      78,
      /is not a complete backup of a profile\.\nTry: give a directory that the backup command created/
    )
    const damaged = join(home.directory, 'stopped')
    await chmod(join(damaged, 'souk.db'), 0o644)
    await truncate(join(damaged, 'souk.db'), 8192 + 100)
    failed(await home.run(`--profile other restore ${damaged}`), 78, /store in the backup is damaged/)
    await writeFile(join(damaged, 'identity.key'), 'no key')
    failed(await home.run(`--profile other restore ${damaged}`), 78, /contains no Ed25519 key/)
    assert.deepEqual(await readdir(join(home.directory, 'other')), ['lock'])
  })
})
