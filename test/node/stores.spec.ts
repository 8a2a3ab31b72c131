import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createSqliteStore, systemClock } from '../../lib/index.ts'
import { openProfile, profileFile } from '../../node/profile/profile.ts'
import { SetupError } from '../../node/setup-error.ts'
import { openStores } from '../../node/stores.ts'

const PAGE_BYTES = 4_096

describe('the store of a profile', () => {
  let home: string
  let path: string
  const profile = () => ({ name: 'a', directory: join(home, 'a') })

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'souk-stores-'))
    await openProfile(profile())
    path = profileFile(profile(), 'store')
    const store = createSqliteStore({ path })
    await store.open()
    for (let i = 0; i < 200; i++) await store.documents.put('things', String(i), JSON.stringify('x'.repeat(500)))
    await store.close()
  })
  afterEach(() => rmSync(home, { recursive: true }))

  async function open(): Promise<void> {
    const stores = await openStores({
      config: { profile: profile() },
      clock: systemClock,
      log: { info: () => {} },
      signal: new AbortController().signal,
      onFailure: () => {}
    })
    await stores[Symbol.asyncDispose]()
  }

  const overwrite = (at: number, bytes: Uint8Array) => {
    const content = readFileSync(path)
    content.set(bytes, at)
    writeFileSync(path, content)
  }
  const damages: ReadonlyArray<readonly [string, RegExp, () => void]> = [
    ['is no database', /damaged/, () => writeFileSync(path, 'something else '.repeat(1_000))],
    ['is cut off in its first page', /damaged/, () => truncateSync(path, 600)],
    ['has lost its end', /damaged/, () => truncateSync(path, 3 * PAGE_BYTES)],
    ['has flipped bytes in its header', /damaged/, () => overwrite(0, Buffer.alloc(100, 0xaa))],
    ['has a schema that cannot be read', /damaged/, () => overwrite(100, Buffer.alloc(PAGE_BYTES - 100, 0xff))],
    [
      'was written by a newer version',
      /newer version/,
      () => {
        using db = new DatabaseSync(path)
        db.exec('PRAGMA user_version = 9999')
      }
    ]
  ]
  for (const [words, message, damage] of damages) {
    it(`names the file and the recovery where it ${words}`, async () => {
      damage()
      chmodSync(path, 0o600)
      await assert.rejects(open(), (error) => {
        assert.ok(error instanceof SetupError, String(error))
        assert.equal(error.code, 'profile_broken')
        assert.ok(error.message.startsWith(`${path} `), error.message)
        assert.match(error.message, message)
        assert.match(error.hint ?? '', /souk restore/)
        return true
      })
    })
  }

  it('opens with all durable data if the end of its log is torn', async () => {
    const store = createSqliteStore({ path })
    await store.open()
    await store.documents.put('things', 'kept', '1')
    const log = readFileSync(`${path}-wal`)
    await store.documents.put('things', 'torn', '1')
    const [longer, base] = [readFileSync(`${path}-wal`), readFileSync(path)]
    await store.close()
    writeFileSync(path, base, { mode: 0o600 })
    // A process killed while it writes leaves a partial last frame.
    writeFileSync(`${path}-wal`, longer.subarray(0, log.length + (longer.length - log.length) / 2), { mode: 0o600 })
    const again = createSqliteStore({ path })
    await again.open()
    assert.equal(await again.documents.get('things', 'kept'), '1')
    assert.equal(await again.documents.get('things', 'torn'), undefined)
    await again.close()
  })
})
