import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  openProfile,
  profileFile,
  type ProfileLocation,
  readProfileJson,
  secretOf,
  writeProfileJson
} from '../../../node/profile/profile.ts'
import { lockProfile } from '../../../node/profile/profile-lock.ts'

const LOCK = new URL('../../../node/profile/profile-lock.ts', import.meta.url).href

describe('profile', () => {
  let home: string
  let profile: ProfileLocation

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'souk-profile-'))
    profile = { name: 'shop', directory: join(home, 'souk', 'shop') }
  })
  afterEach(() => rm(home, { recursive: true }))

  const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)
  const code = (expected: string, hint?: RegExp) => (error: Error & { code?: string; hint?: string }) => {
    assert.equal(error.code, expected)
    if (hint !== undefined) assert.match(error.hint ?? '', hint)
    return true
  }

  it('makes a directory and files that only their owner can read', async () => {
    await openProfile(profile)
    await secretOf(profile, 'pepper', () => Buffer.from('secret'))
    await writeProfileJson(profile, 'settings', { network: 'dev' })
    assert.equal(await mode(profile.directory), '700')
    assert.equal(await mode(profileFile(profile, 'pepper')), '600')
    assert.equal(await mode(profileFile(profile, 'settings')), '600')
  })

  it('rejects a directory or file with wider permissions, and says how to fix it', async () => {
    await openProfile(profile)
    await secretOf(profile, 'identity', () => Buffer.from('key'))
    await chmod(profileFile(profile, 'identity'), 0o640)
    await assert.rejects(openProfile(profile), code('permissions_too_open', /^chmod 600 .*identity\.key$/))
    await assert.rejects(
      secretOf(profile, 'identity', () => assert.fail('the secret was created again')),
      code('permissions_too_open')
    )
    await chmod(profileFile(profile, 'identity'), 0o600)
    await chmod(profile.directory, 0o755)
    await assert.rejects(openProfile(profile), code('permissions_too_open', /^chmod 700 /))
  })

  it('reports a directory that cannot be created', async () => {
    const profile = { name: 'x', directory: '/dev/null/x' }
    await assert.rejects(openProfile(profile), { code: 'profile_broken' })
    await assert.rejects(readProfileJson(profile, 'settings'), { code: 'profile_broken' })
  })

  it('creates a secret once', async () => {
    await openProfile(profile)
    const first = await secretOf(profile, 'pepper', () => Buffer.from('one'))
    assert.deepEqual(await secretOf(profile, 'pepper', () => Buffer.from('two')), first)
    await writeFile(profileFile(profile, 'pepper'), '')
    await assert.rejects(
      secretOf(profile, 'pepper', () => Buffer.from('three')),
      code('profile_broken')
    )
  })

  it('replaces a file atomically and leaves no other files', async () => {
    await openProfile(profile)
    assert.equal(await readProfileJson(profile, 'settings'), undefined)
    await Promise.all(Array.from({ length: 20 }, (_, i) => writeProfileJson(profile, 'settings', { p2pPort: i })))
    assert.match(JSON.stringify(await readProfileJson(profile, 'settings')), /^\{"p2pPort":\d+\}$/)
    assert.deepEqual(await readdir(profile.directory), ['profile.json'])
    await writeFile(profileFile(profile, 'settings'), '{"p2pPort":')
    await assert.rejects(readProfileJson(profile, 'settings'), code('profile_broken'))
  })

  it('is locked by one process, and unlocked however that process ends', async () => {
    await openProfile(profile)
    const path = profileFile(profile, 'lock')
    const holder = spawn(process.execPath, [
      '--input-type=module',
      '-e',
      `const { lockProfile } = await import(${JSON.stringify(LOCK)})
       globalThis.lock = lockProfile(${JSON.stringify(path)}, 'shop')
       console.log('held'); setInterval(() => {}, 1000)`
    ])
    try {
      await once(holder.stdout, 'data')
      assert.throws(() => lockProfile(path, 'shop'), code('profile_in_use', /souk --profile shop status/))
    } finally {
      holder.kill('SIGKILL')
      await once(holder, 'close')
    }
    const lock = lockProfile(path, 'shop')
    assert.throws(() => lockProfile(path, 'shop'), code('profile_in_use'))
    lock.release()
    lockProfile(path, 'shop').release()
    assert.equal(await mode(path), '600')
  })
})
