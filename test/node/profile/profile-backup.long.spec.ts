import assert from 'node:assert/strict'
import { mkdtemp, open, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSqliteStore } from '../../../lib/index.ts'
import { identityOf } from '../../../node/profile/identity.ts'
import { backUpStopped, restoreProfile } from '../../../node/profile/profile-backup.ts'
import { openProfile, profileFile } from '../../../node/profile/profile.ts'

/** The size up to which Node.js reads a file as a whole. */
const LARGE_BYTES = 2 ** 31

describe('the backup of a large profile', () => {
  let home: string
  const at = (name: string) => ({ name, directory: join(home, name) })

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'souk-backup-'))
  })
  afterEach(() => rm(home, { recursive: true }))

  it('restores a store that is larger than 2 GiB', async () => {
    await openProfile(at('own'))
    await identityOf(at('own'))
    const store = createSqliteStore({ path: profileFile(at('own'), 'store') })
    await store.open()
    await store.documents.put('things', 'a', '1')
    await store.close()
    await backUpStopped(at('own'), at('backup').directory)
    await enlarge(profileFile(at('backup'), 'store'))
    await restoreProfile(at('shop'), at('backup').directory)
    const path = profileFile(at('shop'), 'store')
    assert.ok((await stat(path)).size > LARGE_BYTES)
    const restored = createSqliteStore({ path })
    await restored.open()
    assert.equal(await restored.documents.get('things', 'a'), '1')
    await restored.close()
  })
})

/** Appends free pages to a database, as after the deletion of most rows. They are holes in the file. */
async function enlarge(path: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    // https://www.sqlite.org/fileformat2.html: 1.3 the header, 1.4 the page at 1 GiB that is never used, 1.5 the list of free pages.
    const { buffer: header } = await file.read(Buffer.alloc(100), 0, 100, 0)
    const pageBytes = header.readUInt16BE(16)
    assert.deepEqual([header.readUInt32BE(32), header.readUInt32BE(36)], [0, 0], 'it has free pages already')
    const end = header.readUInt32BE(28) + Math.ceil(LARGE_BYTES / pageBytes)
    const free: number[] = []
    for (let page = header.readUInt32BE(28) + 1; page <= end; page++)
      if (page !== 2 ** 30 / pageBytes + 1) free.push(page)
    const leavesMax = pageBytes / 4 - 8
    for (let at = 0; at < free.length; at += leavesMax + 1) {
      const [trunk = 0, ...leaves] = free.slice(at, at + leavesMax + 1)
      const next = free[at + leavesMax + 1] ?? 0
      const page = Buffer.alloc(pageBytes)
      for (const [index, value] of [next, leaves.length, ...leaves].entries()) page.writeUInt32BE(value, index * 4)
      await file.write(page, 0, pageBytes, (trunk - 1) * pageBytes)
    }
    await file.truncate(end * pageBytes)
    header.writeUInt32BE(end, 28)
    header.writeUInt32BE(free[0] ?? 0, 32)
    header.writeUInt32BE(free.length, 36)
    await file.write(header, 0, 100, 0)
  } finally {
    await file.close()
  }
}
