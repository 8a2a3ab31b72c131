import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import {
  openProfile,
  profileFile,
  type ProfileLocation,
  readProfileJson,
  secretOf,
  writeProfileJson
} from '../../../node/profile/profile.ts'
import { backUpProfile } from '../../../node/profile/profile-backup.ts'
import { lockProfile } from '../../../node/profile/profile-lock.ts'
import { makeDisk, mayMount, type SmallDisk } from '../../helpers/small-disk.ts'

const PROFILE = new URL('../../../node/profile/profile.ts', import.meta.url).href
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

  if (process.platform === 'linux') {
    it('reports a directory that its file system does not take, and does not try for ever', async () => {
      const below = { name: 'shop', directory: '/proc/souk/shop' }
      await assert.rejects(openProfile(below), code('profile_broken', /SOUK_HOME=/))
    })
  }

  it('reports a file that cannot be read', async () => {
    await openProfile(profile)
    await mkdir(profileFile(profile, 'settings'), { mode: 0o700 })
    await assert.rejects(readProfileJson(profile, 'settings'), code('profile_broken'))
  })

  if (process.getuid?.() === 0) {
    it('names what belongs to another user, as after a command with sudo', async () => {
      await openProfile(profile)
      await writeProfileJson(profile, 'settings', { network: 'dev' })
      const uid = 65_534
      for (const path of [home, join(home, 'souk')]) await chown(path, uid, uid)
      const script = `const { openProfile, readProfileJson } = await import(${JSON.stringify(PROFILE)})
        await import(${JSON.stringify(new URL('file-fault.ts', LOCK).href)})
        process.setuid(${uid})
        const profile = ${JSON.stringify(profile)}
        for (const use of [openProfile, () => readProfileJson(profile, 'settings')]) {
          await use(profile).catch(({ code, message, hint }) => console.log(code, message, hint))
        }`
      const refusals = async () => {
        const child = spawn(process.execPath, [...process.execArgv, '--input-type=module', '-e', script], {
          stdio: ['ignore', 'pipe', 'inherit']
        })
        return text(child.stdout)
      }
      const said = new RegExp(
        `profile_broken .* cannot be used: ${profile.directory} belongs to another user\\. .*`,
        'g'
      )
      assert.equal((await refusals()).match(said)?.length, 2)
      await chown(profile.directory, uid, uid)
      const settings = profileFile(profile, 'settings')
      assert.match(await refusals(), new RegExp(`: ${settings} belongs to .* sudo chown -R ${uid} ${settings}\\n$`))
    })
  }

  it('blames neither the disk nor the user for a process that may open no more files', async () => {
    await openProfile(profile)
    const path = profileFile(profile, 'lock')
    // The first file of the lock is opened, and the one that SQLite opens is too many.
    const script = `const { lockProfile } = await import(${JSON.stringify(LOCK)})
      await import(${JSON.stringify(new URL('file-fault.ts', LOCK).href)})
      const { closeSync, openSync } = await import('node:fs')
      const open = []
      try { for (;;) open.push(openSync('/dev/null')) } catch {}
      for (const left of [0, 1]) {
        if (left > 0) closeSync(open.pop())
        try { lockProfile(${JSON.stringify(path)}, 'shop') } catch (error) { console.log(error.code, error.message) }
      }`
    const command = 'ulimit -n 128 && exec "$0" --input-type=module -e "$1"'
    const child = spawn('sh', ['-c', command, process.execPath, script], { stdio: ['ignore', 'pipe', 'inherit'] })
    const refused = `store_failed ${path} cannot be opened: this process may open no more files.\n`
    assert.equal(await text(child.stdout), refused.repeat(2))
  })

  // A file system of its own needs root.
  if (mayMount()) {
    describe('on a disk that cannot be written', () => {
      let disk: SmallDisk

      beforeEach(() => {
        disk = makeDisk(1)
        profile = { name: 'shop', directory: join(disk.directory, 'souk', 'shop') }
      })
      afterEach(() => disk.close())

      it('says that the disk is full, and keeps the old file', async () => {
        await openProfile(profile)
        await writeProfileJson(profile, 'settings', { network: 'dev' })
        disk.fillTo(0)
        await assert.rejects(writeProfileJson(profile, 'settings', { network: 'base' }), isFault(/the disk is full/))
        assert.throws(() => lockProfile(profileFile(profile, 'lock'), 'shop'), isFault(/the disk is full/))
        assert.deepEqual(await readProfileJson(profile, 'settings'), { network: 'dev' })
      })

      it('says that the disk of a backup is full, and leaves no part of it there', async () => {
        const own: ProfileLocation = { name: 'shop', directory: join(home, 'shop') }
        await openProfile(own)
        await secretOf(own, 'identity', () => Buffer.from('key'))
        disk.fillTo(0)
        const directory = join(disk.directory, 'backup')
        const refused = {
          code: 'invalid_request',
          message: /backup\/identity\.key cannot be written: the disk is full/
        }
        await assert.rejects(
          backUpProfile(own, directory, async () => {}),
          refused
        )
        assert.deepEqual(await readdir(disk.directory), ['filler'])
      })

      it('says that the file system is read-only', async () => {
        disk.remount('ro')
        await assert.rejects(openProfile(profile), isFault(/file system is read-only/))
        assert.throws(() => lockProfile(join(disk.directory, 'lock'), 'shop'), isFault(/file system is read-only/))
      })

      const isFault = (what: RegExp) => (error: Error & { code?: string }) => {
        assert.equal(error.code, 'store_failed')
        assert.ok(error.message.startsWith(disk.directory))
        return what.test(error.message)
      }
    })
  }

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
