import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createSqliteStore } from '../../../lib/index.ts'
import { restoredAt } from '../../../lib/owner/restored.ts'
import { loadConfig } from '../../../node/config.ts'
import { identityOf } from '../../../node/profile/identity.ts'
import { backUpStopped, restoreProfile } from '../../../node/profile/profile-backup.ts'
import { openProfile, type ProfileFile, profileFile, type ProfileLocation } from '../../../node/profile/profile.ts'
import { SetupError } from '../../../node/setup-error.ts'
import { generatePassphrase } from '../../../node/wallet/passphrase.ts'
import { makeDisk, mayMount, MIB } from '../../helpers/small-disk.ts'

const STEPS = fileURLToPath(new URL('../../helpers/profile-steps.ts', import.meta.url))
const STORED = JSON.stringify('x'.repeat(100_000))
/** The number of a system call of `profile-steps.ts`, in the middle of a restore. */
const KILL_AT = '40'

describe('the backup of a profile', () => {
  let home: string
  let own: ProfileLocation
  let profile: ProfileLocation
  let backup: string

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'souk-backup-'))
    own = { name: 'own', directory: join(home, 'own') }
    profile = { name: 'shop', directory: join(home, 'shop') }
    backup = join(home, 'backup')
    await openProfile(own)
    await identityOf(own)
    for (const file of ['wallet', 'passphrase'] as const) {
      await writeFile(profileFile(own, file), `the ${file}`, { mode: 0o600 })
    }
    const store = createSqliteStore({ path: profileFile(own, 'store') })
    await store.open()
    await Promise.all(Array.from({ length: 15 }, (_, n) => store.documents.put('things', String(n), STORED)))
    await store.close()
    await backUpStopped(own, backup)
  })
  afterEach(() => rm(home, { recursive: true }))

  const code = (expected: string, message: RegExp) => (error: unknown) => {
    assert.ok(error instanceof SetupError, String(error))
    assert.equal(error.code, expected, error.message)
    assert.match(error.message, message)
    return true
  }
  const isHere = (file: ProfileFile, at = profile) => existsSync(profileFile(at, file))

  /** The files, without the lock, and without the empty file that becomes the mark `restoring`. */
  const contentsOf = async ({ directory }: ProfileLocation) =>
    (await readdir(directory)).filter((file) => !/^lock|^\.restoring\./.test(file)).sort()

  /** The whole backup is there, and the store is marked as restored. */
  async function checkComplete(at = profile): Promise<void> {
    const files = await contentsOf(at)
    assert.deepEqual(files, ['identity.key', 'passphrase', 'souk.db', 'wallet.json'])
    for (const file of ['identity', 'wallet', 'passphrase'] as const) {
      assert.deepEqual(await readFile(profileFile(at, file)), await readFile(profileFile(own, file)))
    }
    for (const file of files) assert.equal((await stat(join(at.directory, file))).mode & 0o777, 0o600, file)
    const store = createSqliteStore({ path: profileFile(at, 'store') })
    await store.open()
    assert.equal(await store.documents.get('things', '14'), STORED)
    assert.ok((await restoredAt(store.documents)) > 0)
    await store.close()
    await openProfile(at)
  }

  /** Runs `profile-steps.ts`. */
  async function runSteps(what: 'restore' | 'backup', target: string, ...killAt: string[]): Promise<void> {
    const paths = what === 'restore' ? [target, backup] : [own.directory, target]
    const args = [...process.execArgv, STEPS, what, ...paths, join(home, 'copies'), ...killAt]
    await promisify(execFile)(process.execPath, args)
  }
  const copyAt = (instant: string): ProfileLocation => ({
    name: 'shop',
    directory: join(home, 'copies', instant)
  })

  it('can be restored again after a kill at any instant, and no node starts before', async () => {
    const killed = { name: 'shop', directory: join(home, 'killed') }
    await Promise.all([
      runSteps('restore', profile.directory),
      assert.rejects(runSteps('restore', killed.directory, KILL_AT), { signal: 'SIGKILL' })
    ])
    await checkComplete()
    const copies = (await readdir(join(home, 'copies'))).map(copyAt)
    const incomplete = copies.filter((left) => isHere('restoring', left))
    for (const file of ['store', 'wallet', 'identity'] as const) {
      assert.ok(incomplete.some((left) => isHere(file, left)) && incomplete.some((left) => !isHere(file, left)), file)
    }
    const restoreAgain = async (left: ProfileLocation): Promise<void> => {
      if (incomplete.includes(left)) {
        await assert.rejects(openProfile(left), code('profile_broken', /restore was interrupted/))
      } else if (isHere('store', left)) {
        // Only the end of the command is missing.
        return checkComplete(left)
      } else {
        assert.deepEqual(await contentsOf(left), [])
      }
      await restoreProfile(left, backup)
      await checkComplete(left)
    }
    await Promise.all(copies.map(restoreAgain))
    assert.ok(isHere('restoring', killed) && isHere('store', killed))
    await restoreProfile(killed, backup)
    await checkComplete(killed)
  })

  it('is refused if the process that made it was killed before its end', async () => {
    await runSteps('backup', join(home, 'new'))
    const instants = await readdir(join(home, 'copies'))
    const partial = instants.filter((instant) => !isHere('identity', copyAt(instant)))
    assert.ok(partial.length > 5 && partial.length < instants.length, `${partial.length} of ${instants.length}`)
    for (const instant of instants) {
      const restored = restoreProfile(profile, copyAt(instant).directory)
      if (partial.includes(instant)) await assert.rejects(restored, code('config_invalid', /is not a complete backup/))
      else await restored.then(() => checkComplete())
      assert.equal(existsSync(profile.directory), !partial.includes(instant))
      await rm(profile.directory, { recursive: true, force: true })
    }
  })

  it('is refused if an earlier version was killed while it copied the store', async () => {
    const store = join(backup, 'souk.db')
    const refused = code('config_invalid', /is not a complete backup/)
    await writeFile(`${store}-journal`, 'the pages before')
    await assert.rejects(restoreProfile(profile, backup), refused)
    await rm(`${store}-journal`)
    await truncate(store, 0)
    await assert.rejects(restoreProfile(profile, backup), code('profile_broken', /store in the backup is damaged/))
    assert.deepEqual(await contentsOf(profile), [])
  })

  it('starts no node, gets no wallet and is no backup while its restore is incomplete', async () => {
    await openProfile(profile)
    await cp(backup, profile.directory, { recursive: true })
    await writeFile(profileFile(profile, 'restoring'), '', { mode: 0o600 })
    const refused = code('profile_broken', /"shop" is incomplete/)
    await rm(profileFile(profile, 'wallet'))
    await assert.rejects(loadConfig({ profile: 'shop', flags: { network: 'dev' }, env: { SOUK_HOME: home } }), refused)
    await assert.rejects(generatePassphrase(profile), refused)
    await assert.rejects(backUpStopped(profile, join(home, 'new')), refused)
    const other = { name: 'other', directory: join(home, 'other') }
    await assert.rejects(restoreProfile(other, profile.directory), code('config_invalid', /is not a complete backup/))
    await restoreProfile(profile, backup)
    await checkComplete()
  })

  it('replaces no wallet that came into the profile after an interrupted restore', async () => {
    await openProfile(profile)
    await writeFile(profileFile(profile, 'restoring'), '', { mode: 0o600 })
    for (const other of ['the wallet of somebody', 'a wallet']) {
      await writeFile(profileFile(profile, 'wallet'), other, { mode: 0o600 })
      await assert.rejects(restoreProfile(profile, backup), code('profile_exists', /exists already/))
      assert.equal(await readFile(profileFile(profile, 'wallet'), 'utf8'), other)
    }
    await writeFile(profileFile(profile, 'wallet'), 'the wal', { mode: 0o600 })
    await restoreProfile(profile, backup)
    await checkComplete()
  })

  for (const suffix of ['-wal', '-shm', '-journal']) {
    it(`is not restored beside souk.db${suffix} of another store`, async () => {
      await openProfile(profile)
      const left = `${profileFile(profile, 'store')}${suffix}`
      await writeFile(left, 'commits', { mode: 0o600 })
      await assert.rejects(restoreProfile(profile, backup), code('profile_exists', /exists already/))
      assert.equal(await readFile(left, 'utf8'), 'commits')
      assert.deepEqual(await readdir(profile.directory), [`souk.db${suffix}`])
    })
  }

  it('names a file that cannot be read, and leaves no part of the profile', async () => {
    for (const file of ['passphrase', 'identity', 'store'] as const) {
      const unreadable = join(home, file)
      await cp(backup, unreadable, { recursive: true })
      const path = profileFile({ name: '', directory: unreadable }, file)
      await rm(path)
      // Reading a directory fails for every user.
      await mkdir(path)
      await assert.rejects(
        restoreProfile(profile, unreadable),
        code('config_invalid', new RegExp(`^${path} cannot be read`))
      )
      assert.deepEqual(await readdir(profile.directory), ['lock'])
    }
    await assert.rejects(
      restoreProfile(profile, join(backup, 'souk.db')),
      code('config_invalid', /souk\.db cannot be read/)
    )
    await restoreProfile(profile, backup)
    await checkComplete()
  })

  // A file system of its own needs root.
  if (mayMount()) {
    it('says that the disk is full, however much of it fits, and leaves no part of the profile', async () => {
      const disk = makeDisk(8)
      try {
        const target = { name: 'shop', directory: join(disk.directory, 'shop') }
        let refused = 0
        for (let freeBytes = 0; ; freeBytes += freeBytes < MIB ? MIB / 8 : MIB / 64) {
          disk.fillTo(freeBytes)
          const error: unknown = await restoreProfile(target, backup).then(
            () => undefined,
            (reason: unknown) => reason
          )
          if (error === undefined) break
          code('store_failed', /the disk is full/)(error)
          const left = existsSync(target.directory) ? await readdir(target.directory) : []
          assert.deepEqual(
            left.filter((file) => file !== 'lock'),
            []
          )
          refused++
          disk.clear()
        }
        assert.ok(refused > 15, `${refused}`)
        await checkComplete(target)
      } finally {
        disk.close()
      }
    })
  }
})
