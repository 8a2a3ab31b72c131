import assert from 'node:assert/strict'
import { type InstalledClone, installedClone } from '../helpers/clone.ts'
import { Reader } from './typed/reader.ts'

const PAGES = {
  'README.md': [],
  'docs/tutorials/first-api.md': [],
  'docs/tutorials/first-call.md': ['docs/tutorials/first-api.md'],
  'docs/tutorials/pay-with-x402.md': ['docs/tutorials/first-api.md'],
  'docs/tutorials/embed.md': []
}

/** Follows each page in a fresh clone with an empty home folder, after the pages that it requires. */
describe('the pages, followed command by command', function () {
  this.timeout(600_000)
  let installed: InstalledClone

  before(async () => {
    installed = await installedClone()
  })
  after(() => installed.close())

  for (const [page, first] of Object.entries(PAGES)) {
    it(`work: ${page}`, async () => {
      const clone = await installed.again()
      const reader = await Reader.open(clone)
      try {
        for (const path of [...first, page]) await reader.follow(path)
        assert.ok(reader.typed > 3, `typed only ${reader.typed} commands`)
      } finally {
        await reader.close()
        await clone.close()
      }
    })
  }
})
